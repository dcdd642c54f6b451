"""``headroom measure``."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headroom import environment, files
from headroom.cli import FAILED, OK, USAGE
from headroom.records import Tree, load
from headroom.running import guard, journal, keeping, measuring, planning

CLOCK_SECONDS = 60  # by which a clock may be set during a session without anybody being told


def run(root: Path, options: argparse.Namespace) -> int:
    """Measure, and print the path of the evidence."""
    tree = load(root)
    home: Path = options.out or root
    try:
        what = planning.plan(tree, options.names)
        with guard.only_one(root), guard.ended_by_signals():
            if cut := journal.settle(root):
                _say(f"cut short, and no evidence: {'; '.join(map(str, cut))}")
            files.probe(home / "checks/evidence" / what.benchmark)
            with _session(tree, what, options.device) as session:
                return _measured(session, home, as_json=options.json)
    except (planning.MeasureError, guard.GuardError, ValueError) as error:
        _say(str(error))
    except KeyboardInterrupt as stopped:
        _say(f"ended by {stopped}; nothing was measured")
        return FAILED
    except ImportError as error:
        _say(f"{error.name} is missing; pip install 'headroom[snippets]'")
    return USAGE


@contextmanager
def _session(tree: Tree, what: planning.Plan, device: str) -> Iterator[measuring.Session]:
    """A session that runs in processes of its own, and shows how far it is.

    Raises:
        ImportError: what runs need is not installed.
    """
    from tqdm import tqdm  # noqa: PLC0415 - only a session needs it

    from headroom.running.isolation import QUIET, Nursery  # noqa: PLC0415 - as above

    machine = environment.observe(device, threads=int(QUIET["OMP_NUM_THREADS"]))
    with Nursery(QUIET) as nursery, tqdm(total=what.blocks * len(what.slots), unit="run") as bar:

        def progress(done: int, _total: int, ratios: str) -> None:
            bar.update(done - bar.n)
            bar.set_postfix_str(ratios)

        yield measuring.Session(tree, what, machine, measuring.launcher(nursery.run), progress)


def _measured(session: measuring.Session, home: Path, *, as_json: bool) -> int:
    """Carry a session out, and say how it ended."""
    try:
        path = session.measure(home)
    except KeyboardInterrupt as stopped:
        _say(f"ended by {stopped}; no evidence is written, the runs so far are in {session.journal}")
        return FAILED
    except keeping.NotKeptError as error:
        _say(str(error))
        print(error.text, end="")
        return FAILED
    except (planning.MeasureError, OSError, RuntimeError) as error:
        _say(f"{error}; the runs so far are in {session.journal}")
        return FAILED
    if abs(session.clock_moved) > CLOCK_SECONDS:
        _say(
            f"the clock was set by {session.clock_moved:+.0f} s meanwhile; measure again if the day of {path} is wrong"
        )
    print(json.dumps({"evidence": str(path)}) if as_json else path)
    return OK


def _say(message: str) -> None:
    print(f"headroom: {message}", file=sys.stderr)

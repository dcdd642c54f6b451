"""``headroom measure``."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headroom import environment, writing
from headroom.cli import FAILED, OK, USAGE
from headroom.records import Tree, load
from headroom.running import guard, journal, measuring, planning

CLOCK_SECONDS = 60  # by which a clock may be set during a session without anybody being told


def run(root: Path, options: argparse.Namespace) -> int:
    """Measure, and print the path of the evidence."""
    tree = load(root)
    home: Path = options.out or root
    try:
        what = planning.plan(tree, options.names)
        with guard.only_one(root), guard.ended_by_signals():
            if cut := journal.settle(root):
                _say(f"journals without an end (a kill, or a full disk): {'; '.join(map(str, cut))}")
            writing.probe(home / "checks/evidence" / what.benchmark)
            return _measure(tree, what, home, options)
    except (planning.MeasureError, guard.GuardError, ValueError) as error:
        _say(str(error))
    except ImportError as error:
        _say(f"{error.name} is missing; pip install 'headroom[snippets]'")
    except KeyboardInterrupt as stopped:
        _say(f"ended by {stopped}; nothing was measured")
        return FAILED
    return USAGE


def _measure(tree: Tree, what: planning.Plan, home: Path, options: argparse.Namespace) -> int:
    """Carry a session out, and say how it ended. What keeps it from its beginning is raised."""
    session = None
    try:
        with _session(tree, what, options.device) as session:
            session.measure(home)
    except (ValueError, OSError, RuntimeError, KeyboardInterrupt) as error:
        if session is None:
            raise
        if session.kept is None:  # else the end came when all was done
            ended = f"ended by {error}; no evidence is written" if isinstance(error, KeyboardInterrupt) else error
            _say(f"{ended}; the runs are in {session.journal}")
            print(getattr(error, "text", ""), end="")  # evidence for which there is no room
            return FAILED
    moved = session.clock_moved
    if abs(moved) > CLOCK_SECONDS:
        _say(f"the clock was set by {moved:+.0f} s meanwhile; measure again if the day of {session.kept} is wrong")
    print(json.dumps({"evidence": str(session.kept)}) if options.json else session.kept)
    return OK


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


def _say(message: str) -> None:
    print(f"headroom: {message}", file=sys.stderr)

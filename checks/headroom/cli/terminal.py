"""A session at a terminal, as ``measure`` and ``reproduce`` both carry it out: guarded, shown, and ended in order."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from headroom import environment
from headroom.cli import FAILED, USAGE
from headroom.environment import MachineState
from headroom.execution import hardware_class_draft, journal, measurement, session_lock, session_plan
from headroom.io import atomic_write
from headroom.records import Tree

CLOCK_SECONDS = 60  # by which a clock may be set during a session without anybody being told
LONG_SECONDS = 120  # a session that takes longer says so after its first block

Told = Callable[[MachineState], None]


def measured(
    tree: Tree, names: Sequence[str], home: Path, device: str, unclassed: Told | None = None
) -> measurement.MeasurementSession | int:
    """Carry out one session for these claims or this benchmark, and say how it ended.

    Args:
        tree: what is known.
        names: claims, or a benchmark.
        home: the folder below which the evidence is written.
        device: ``cpu``, ``cuda`` or ``auto``.
        unclassed: is told of a machine that is of no hardware class; without it, such a machine measures nothing.

    Returns:
        The session, whose evidence is ``kept``, or the exit code where there is none.
    """
    try:
        what = session_plan.plan(tree, names)
        machine, hardware = _machine(tree, device, unclassed)
        with session_lock.exclusive_session(tree.root), session_lock.stop_on_signals():
            if cut := journal.close_unfinished(tree.root):
                say(f"journals without an end (a kill, or a full disk): {'; '.join(map(str, cut))}")
            atomic_write.probe(home / "checks/evidence" / what.benchmark)
            return _measured(tree, what, home, machine, hardware)
    except (session_plan.MeasureError, session_lock.GuardError, ValueError) as error:
        say(str(error))
    except ImportError as error:
        say(f"{error.name} is missing; pip install 'headroom[snippets]'")
    except KeyboardInterrupt as stopped:
        say(f"ended by {stopped}; nothing was measured")
        return FAILED
    return USAGE


def say(message: str) -> None:
    """Print a line that is no result."""
    print(f"headroom: {message}", file=sys.stderr)


def _machine(tree: Tree, device: str, unclassed: Told | None) -> tuple[MachineState, str]:
    """This machine as runs find it, and its class."""
    from headroom.execution.isolation import QUIET  # noqa: PLC0415 - only a session needs it

    machine = environment.observe(device, threads=int(QUIET["OMP_NUM_THREADS"]))
    if unclassed and not session_plan.classes(tree, machine):
        unclassed(machine)
        return machine, hardware_class_draft.NO_CLASS
    return machine, session_plan.hardware_class(tree, machine)


def _measured(
    tree: Tree, what: session_plan.Plan, home: Path, machine: MachineState, hardware: str
) -> measurement.MeasurementSession | int:
    """The session, or the code of one that ended early. What keeps it from its beginning is raised."""
    session = None
    try:
        with _session(tree, what, machine, hardware) as session:
            session.measure(home)
    except (ValueError, OSError, RuntimeError, KeyboardInterrupt) as error:
        if session is None:
            raise
        if session.kept is None:  # else the end came when all was done
            ended = f"ended by {error}; no evidence is written" if isinstance(error, KeyboardInterrupt) else error
            say(f"{ended}; the runs are in {session.journal}")
            print(getattr(error, "text", ""), end="")  # evidence for which there is no room
            return FAILED
    moved = session.clock_moved
    if abs(moved) > CLOCK_SECONDS:
        say(f"the clock was set by {moved:+.0f} s meanwhile; measure again if the day of {session.kept} is wrong")
    return session


@contextmanager
def _session(
    tree: Tree, what: session_plan.Plan, machine: MachineState, hardware: str
) -> Iterator[measurement.MeasurementSession]:
    """A session that runs in processes of its own, and shows how far it is.

    Raises:
        ImportError: what runs need is not installed.
    """
    from tqdm import tqdm  # noqa: PLC0415 - only a session needs it

    from headroom.execution.isolation import QUIET, ForkServer  # noqa: PLC0415 - as above

    estimate = Estimate(what.blocks, len(what.slots))
    with ForkServer(QUIET) as server, tqdm(total=what.blocks * len(what.slots), unit="run") as bar:

        def progress(done: int, _total: int, ratios: str) -> None:
            bar.update(done - bar.n)
            bar.set_postfix_str(ratios)
            if told := estimate.after(done):
                bar.write(f"headroom: {told}", file=sys.stderr)

        launch = measurement.launcher(server.start().run)
        yield measurement.MeasurementSession(tree, what, machine, launch, progress, hardware=hardware)


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long a session will take, by its first block."""

    blocks: int
    runs: int
    """Of a block."""
    clock: Callable[[], float] = time.monotonic
    began: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began.append(self.clock())

    def after(self, done: int) -> str:
        """What to say after so many runs: something only after the first block of a session that takes long."""
        if done != self.runs:
            return ""
        block = self.clock() - self.began[0]
        left = block * (self.blocks - 1)
        if block + left < LONG_SECONDS:
            return ""
        minutes = f"{left / 60:.0f} minutes" if left >= 120 else f"{left:.0f} s"  # noqa: PLR2004 - two minutes
        return f"the first of {self.blocks} blocks took {block:.0f} s, so about {minutes} are left; Ctrl-C ends it"

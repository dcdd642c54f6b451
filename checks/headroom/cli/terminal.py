"""Run a measurement session at a terminal, with guards, a progress bar and messages; for measure and reproduce."""

import math
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

CLOCK_SECONDS = 60  # larger adjustments of the clock during a session are reported
LONG_SECONDS = 120  # a session that takes longer prints an estimate after its first block

CANNOT_START = (session_plan.MeasureError, session_lock.GuardError, ValueError, ImportError)
"""Errors that keep a measurement from starting."""

OnNoClass = Callable[[MachineState], None]


def measured(
    tree: Tree, names: Sequence[str], home: Path, device: str, on_no_class: OnNoClass | None = None
) -> measurement.MeasurementSession | int:
    """Run one session for these claims or this benchmark, and print how it ended.

    Args:
        tree: the tree.
        names: claims, or a benchmark.
        home: the folder below which the evidence is written.
        device: ``cpu``, ``cuda`` or ``auto``.
        on_no_class: called if the machine matches no hardware class; without it, such a machine is an error.

    Returns:
        The session, with the path of its evidence in ``kept``, or an exit code if there is no evidence.
    """
    try:
        what = session_plan.plan(tree, names)
        machine, hardware = _machine(tree, device, on_no_class)
        with session_lock.exclusive_session(tree.root), session_lock.stop_on_signals():
            if unfinished := journal.close_unfinished(tree.root):
                say(f"earlier sessions did not finish (killed, or disk full): {'; '.join(map(str, unfinished))}")
            atomic_write.probe(home / "checks/evidence" / what.benchmark)
            say(expected(tree, what, hardware))
            return run_session(tree, what, home, machine, hardware)
    except CANNOT_START as error:
        return cannot_start(error)
    except KeyboardInterrupt as stopped:
        say(f"ended by {stopped}; nothing was measured")
        return FAILED


def expected(tree: Tree, what: session_plan.Plan, hardware: str) -> str:
    """Return how many runs a session has, and about how long they take by the newest session of the benchmark.

    Sessions on the same hardware class count before others. Without any, the first block tells how long it takes.
    """
    count = what.blocks * len(what.slots)
    runs = f"{count} runs in {what.blocks} blocks, each run a process of its own"
    known = [session for session in tree.sessions if session.head.benchmark == what.benchmark]
    known = [session for session in known if session.head.hardware_class == hardware] or known
    if not known:
        return f"{runs}; how long they take is known after the first block"
    newest = max(known, key=lambda session: session.head.moment)
    done = newest.evidence.runs
    seconds = count * max((run.ended for run in done), default=0.0) / max(len(done), 1)
    where = f"on {newest.head.hardware_class}, {newest.head.date}"
    return f"{runs}; about {duration(seconds)} by the newest session ({where})"


def duration(seconds: float) -> str:
    """Return a duration as text."""
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} s"  # noqa: PLR2004 - two minutes


def cannot_start(error: Exception) -> int:
    """Print why a measurement cannot start, and return the exit code."""
    if isinstance(error, ImportError):
        say(f"{error.name} is not installed; run pip install 'headroom[snippets]'")
    else:
        say(str(error))
    return USAGE


def say(message: str) -> None:
    """Print a message to standard error."""
    print(f"headroom: {message}", file=sys.stderr)


def _machine(tree: Tree, device: str, on_no_class: OnNoClass | None) -> tuple[MachineState, str]:
    """Return this machine's state with the threads of a run, and its hardware class."""
    from headroom.execution.isolation import QUIET  # noqa: PLC0415 - needed only for a session

    machine = environment.observe(device, threads=int(QUIET["OMP_NUM_THREADS"]))
    if on_no_class and not session_plan.classes(tree, machine):
        on_no_class(machine)
        return machine, hardware_class_draft.NO_CLASS
    return machine, session_plan.hardware_class(tree, machine)


def run_session(
    tree: Tree,
    what: session_plan.Plan,
    home: Path,
    machine: MachineState,
    hardware: str,
    deadline: float = math.inf,
) -> measurement.MeasurementSession | int:
    """Run a session; return it, or the exit code if it ended early. Raise if it cannot start.

    Args:
        tree: the tree.
        what: the plan of the session.
        home: the folder below which the evidence is written.
        machine: this machine.
        hardware: the hardware class that the evidence names.
        deadline: the time, as of ``time.monotonic``, before which the session must end. It is stopped as soon as its
            second block shows that it would take longer.
    """
    session = None
    try:
        with _session(tree, what, machine, hardware, deadline) as session:
            session.measure(home)
    except (ValueError, OSError, RuntimeError, KeyboardInterrupt) as error:
        if session is None:
            raise
        if session.kept is None:  # else the session was complete already
            ended = f"ended by {error}; no evidence is written" if isinstance(error, KeyboardInterrupt) else error
            say(f"{ended}; the runs are in {session.journal}")
            print(getattr(error, "text", ""), end="")  # evidence that could be saved nowhere
            return FAILED
    moved = session.clock_moved
    if abs(moved) > CLOCK_SECONDS:
        say(f"the clock was set by {moved:+.0f} s meanwhile; measure again if the date of {session.kept} is wrong")
    return session


@contextmanager
def _session(
    tree: Tree, what: session_plan.Plan, machine: MachineState, hardware: str, deadline: float
) -> Iterator[measurement.MeasurementSession]:
    """Yield a session that runs in isolated processes and shows a progress bar.

    Raises:
        ImportError: a library that runs need is not installed.
    """
    from tqdm import tqdm  # noqa: PLC0415 - needed only for a session

    from headroom.execution import preloads  # noqa: PLC0415 - as above
    from headroom.execution.isolation import QUIET, ForkServer  # noqa: PLC0415 - as above

    estimate = Estimate(what.blocks, len(what.slots))
    server = ForkServer(QUIET, preloads.modules(machine.device))
    with server, tqdm(total=what.blocks * len(what.slots), unit="run") as bar:

        def progress(done: int, _total: int, ratios: str) -> None:
            bar.update(done - bar.n)
            bar.set_postfix_str(ratios)
            if message := estimate.after(done):
                bar.write(f"headroom: {message}", file=sys.stderr)
            if estimate.end(done) > deadline:
                raise session_lock.Stopped("the time limit")

        launch = measurement.launcher(server.start().run)
        yield measurement.MeasurementSession(tree, what, machine, launch, progress, hardware=hardware)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimates the remaining time of a session from its first block."""

    blocks: int
    runs: int
    """The runs per block."""
    clock: Callable[[], float] = time.monotonic
    began: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began.append(self.clock())

    def end(self, done: int) -> float:
        """Return the time, as of the clock, at which the session ends, by its runs after the first block.

        The first block includes the start of the libraries. Before the second is complete, return the present time.
        """
        now = self.clock()
        if done == self.runs:
            self.began.append(now)
        if done < 2 * self.runs:
            return now
        return now + (now - self.began[-1]) / (done - self.runs) * (self.blocks * self.runs - done)

    def after(self, done: int) -> str:
        """Return the estimate as a message after the first block of a long session, else an empty string."""
        if done != self.runs:
            return ""
        block = self.clock() - self.began[0]
        left = block * (self.blocks - 1)
        if block + left < LONG_SECONDS:
            return ""
        took = f"the first of {self.blocks} blocks took {block:.0f} s"
        return f"{took}, so about {duration(left)} are left; Ctrl-C ends it"

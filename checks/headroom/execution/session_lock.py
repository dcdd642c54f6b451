"""What holds around a session: nobody else measures here, a signal ends it in order, and the clock is not behind."""

import fcntl
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from headroom.io import git_history
from headroom.io.atomic_write import UnwritableError
from headroom.records.tree import Tree

LOCK = ".cache/measure.lock"
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class GuardError(RuntimeError):
    """Nothing may be measured now, and nothing was; the message says why and what to do."""


class Stopped(KeyboardInterrupt):
    """A signal asked for the end; the message is its name."""


@contextmanager
def only_one(root: Path) -> Iterator[None]:
    """Keep every other session of the tree from starting: two at once would measure one another.

    The lock is the kernel's, and goes with the process, however that ends.

    Raises:
        GuardError: another process measures.
        UnwritableError: the file to lock cannot be written.
    """
    path = root / LOCK
    try:
        handle = _locked(path)
    except BlockingIOError:
        first = path.read_text(encoding="ascii") or "another"
        message = f"process {first} is measuring in this tree, and two at once would measure one another; wait for it"
        raise GuardError(message) from None
    except OSError as error:
        raise UnwritableError(path, error) from error
    with handle:
        yield


def _locked(path: Path) -> IO[bytes]:
    """A file that holds the number of this process, and is locked for as long as it is open."""
    path.parent.mkdir(exist_ok=True)
    handle = path.open("ab", buffering=0)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        handle.truncate(0)
        handle.write(str(os.getpid()).encode())
    except BaseException:
        handle.close()
        raise
    return handle


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Have the signals that ask a process to end raise ``Stopped``, once; those that are ignored stay so (nohup)."""

    def stop(number: int, _: FrameType | None) -> NoReturn:
        for each in before:
            signal.signal(each, signal.SIG_IGN)  # the end is in order, and is not interrupted itself
        raise Stopped(signal.Signals(number).name)

    before = [each for each in _ENDING if signal.getsignal(each) is not signal.SIG_IGN]
    with _handled(before, stop):
        yield


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore these signals for the moment in which what was measured is written."""
    with _handled(_ENDING, signal.SIG_IGN):
        yield


@contextmanager
def _handled(
    numbers: "tuple[signal.Signals, ...] | list[signal.Signals]",
    handler: "Callable[[int, FrameType | None], object] | signal.Handlers",
) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # no other thread may set handlers, or is interrupted by them
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def now(tree: Tree) -> datetime:
    """The time, where the clock can be trusted: the newest session decides, so one that is dated back would be lost.

    Raises:
        GuardError: a record of the tree, or its last commit, is of a later time.
    """
    moment = datetime.now(UTC)
    known = {session.path: session.head.moment for session in tree.sessions}
    known |= {f"the run of {name} on {where}": (run.date, "") for (name, where), run in tree.runs.items()}
    known |= {path: (machine.date, "") for path, machine in tree.machines.items()}
    known["the last commit"] = (git_history.last_commit_day(tree.root) or "", "")
    newest = max(known, key=lambda name: known[name], default=None)
    here = (f"{moment:%Y-%m-%d}", f"{moment:%H:%M:%S}")
    if newest is not None and here < known[newest]:
        part = slice(2 if here[0] == known[newest][0] else 1)  # the time only where the day is the same
        says, of = (" ".join(each[part]) for each in (here, known[newest]))
        raise GuardError(f"the clock says {says}, but {newest} is of {of}; set the clock, or correct that date")
    return moment

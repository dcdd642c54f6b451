"""Guards of a session: a lock against a second session, signals as exceptions, and a check of the clock."""

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
    """No session can start now; the message gives the reason and the remedy."""


class Stopped(KeyboardInterrupt):
    """A signal asked this process to end; the message is the signal's name."""


@contextmanager
def exclusive_session(root: Path) -> Iterator[None]:
    """Hold the tree's lock, because two sessions at once would slow each other down.

    The kernel holds the lock, and releases it when the process ends in any way.

    Raises:
        GuardError: another process is measuring.
        UnwritableError: the lock file cannot be written.
    """
    path = root / LOCK
    try:
        handle = _locked(path)
    except BlockingIOError:
        first = path.read_text(encoding="ascii") or "another"
        message = f"process {first} is measuring in this tree, and two at once slow each other down; wait for its end"
        raise GuardError(message) from None
    except OSError as error:
        raise UnwritableError(path, error) from error
    with handle:
        yield


def _locked(path: Path) -> IO[bytes]:
    """Open and lock the file, and write this process's id to it; the lock holds while the file is open."""
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
def stop_on_signals() -> Iterator[list[str]]:
    """Raise ``Stopped`` on the first SIGINT, SIGTERM or SIGHUP; ignored signals stay ignored (nohup).

    Yield a list that then has the signal's name, for a caller whose callee handles ``Stopped``.
    """
    caught: list[str] = []

    def stop(number: int, _: FrameType | None) -> NoReturn:
        caught.append(signal.Signals(number).name)
        for each in before:
            signal.signal(each, signal.SIG_IGN)  # no further signal interrupts the clean-up
        raise Stopped(caught[0])

    before = [each for each in _ENDING if signal.getsignal(each) is not signal.SIG_IGN]
    with _handled(before, stop):
        yield caught


@contextmanager
def signals_ignored() -> Iterator[None]:
    """Ignore these signals, so that none interrupts the writing of results."""
    with _handled(_ENDING, signal.SIG_IGN):
        yield


@contextmanager
def _handled(
    numbers: "tuple[signal.Signals, ...] | list[signal.Signals]",
    handler: "Callable[[int, FrameType | None], object] | signal.Handlers",
) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can set handlers, and only it is interrupted
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def now(tree: Tree) -> datetime:
    """Return the current time in UTC, if the clock is not behind: an older session than the newest has no effect.

    Raises:
        GuardError: a record of the tree, or its last commit, has a later time.
    """
    moment = datetime.now(UTC)
    known = {session.path: session.head.moment for session in tree.sessions}
    known |= {f"the run record of {name} on {where}": (run.date, "") for (name, where), run in tree.runs.items()}
    known |= {path: (machine.date, "") for path, machine in tree.machines.items()}
    known["the last commit"] = (git_history.last_commit_day(tree.root) or "", "")
    newest = max(known, key=lambda name: known[name], default=None)
    here = (f"{moment:%Y-%m-%d}", f"{moment:%H:%M:%S}")
    if newest is not None and here < known[newest]:
        part = slice(2 if here[0] == known[newest][0] else 1)  # show the time of day only if the days are equal
        clock, later = (" ".join(each[part]) for each in (here, known[newest]))
        raise GuardError(f"the clock shows {clock}, but {newest} is dated {later}; set the clock, or correct the date")
    return moment

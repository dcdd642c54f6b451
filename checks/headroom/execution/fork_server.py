"""The process that has imported the libraries and done nothing else, and the children that are forked from it.

It must stay so: a child of a parent that has run an OpenMP region on two threads hangs, and one of a parent that has a
CUDA context cannot use CUDA. Requests are therefore unpickled in the child, never here.
"""

import contextlib
import ctypes
import gc
import importlib
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import IO, Any, NoReturn

import psutil

from headroom import environment
from headroom.execution import network_block

TICK = 0.02  # seconds between two looks at what the child does
WATCH = 0.1  # seconds between two looks at its memory
TAIL_BYTES = 1 << 20  # of each stream, the end is kept
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


@dataclass(frozen=True, slots=True)
class ProcessOutcome:
    """How one piece of work ended. What the work itself did is in the files that it wrote and in its output."""

    exit_code: int
    """As a shell's user knows it; the negative number of the signal where one ended it."""
    seconds: float
    """Wall time from the fork to the end."""
    cpu_seconds: float
    """User and system time of the process and of the children that it waited for."""
    peak_memory_bytes: int
    """Of the process and all its descendants together; no page is counted twice."""
    timed_out: bool
    over_memory: bool
    stdout: str
    """The last MiB of it."""
    stderr: str
    network: network_block.Kind
    """What kept the work from the network."""
    others_cpu: float | None
    """Share of the time of the machine's cores that went to others meanwhile; None where the system does not say."""


@dataclass(frozen=True, slots=True)
class Order:
    """One piece of work and its limits, as it travels to the fork parent."""

    call: bytes
    """The function and its arguments, pickled."""
    cwd: str
    timeout: float
    memory_limit: int


def main(descriptor: int, offline: bool, preload: Sequence[str]) -> None:  # noqa: FBT001 - called by one line of text
    """Import the modules, then fork one child for each order that comes in, until the line closes."""
    line: Connection[Any, Any] = Connection(descriptor)
    _set(_PR_SET_PDEATHSIG, signal.SIGKILL)  # while it imports, it does not see that the line is closed
    try:
        for name in preload:
            importlib.import_module(name)
        kind = network_block.available() if offline else network_block.Kind.OPEN
        gc.freeze()  # a collection in a child would write to every object, and so copy every page
    except Exception:  # noqa: BLE001 - whatever goes wrong, the other side must hear of it
        line.send(traceback.format_exc())
        return
    _set(_PR_SET_PDEATHSIG, 0)  # from now on it sees it, and ends its descendants before itself
    # The parent of every descendant whose parent ends, whatever session that has moved to: so none can escape.
    _set(_PR_SET_CHILD_SUBREAPER, 1)
    with contextlib.suppress(EOFError, ConnectionError):
        line.send(None)
        while True:
            order = line.recv()
            line.send(_carry_out(order, kind, line))
    os._exit(0)  # unloading the libraries would take a second


def _set(option: int, value: int) -> None:
    """Set an attribute of this process, where the system is the one that has them."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _carry_out(order: Order, kind: network_block.Kind, line: "Connection[Any, Any]") -> ProcessOutcome:
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        start, load = time.monotonic(), _Load()
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            line.close()
            _set(_PR_SET_PDEATHSIG, signal.SIGKILL)  # nobody watches it any more
            if os.getppid() != parent:
                os._exit(1)
            _live(order, kind, (stdout.fileno(), stderr.fileno()))
        try:
            watch = _watch(child, order, start, line)
            others = load.others(watch["cpu_seconds"])
        finally:
            _end_descendants()
        return ProcessOutcome(**watch, stdout=_tail(stdout), stderr=_tail(stderr), network=kind, others_cpu=others)


class _Load:
    """What the cores do from now on, besides one piece of work and the watch over it."""

    def __init__(self) -> None:
        self._cores, self._watch = environment.cpu_seconds(), time.process_time()

    def others(self, work_seconds: float) -> float | None:
        """The share of their time that went to others than work of so many seconds, from 0 to 1."""
        now = environment.cpu_seconds()
        if self._cores is None or now is None or now[1] <= self._cores[1]:
            return None
        own = work_seconds + time.process_time() - self._watch
        share = (now[0] - self._cores[0] - own) / (now[1] - self._cores[1])
        return min(max(share, 0.0), 1.0)  # the system counts in hundredths of a second


def _watch(child: int, order: Order, start: float, line: "Connection[Any, Any]") -> dict[str, Any]:
    """Wait for the child, and end it when it takes too long or too much, or when nobody waits for it any more."""
    peak, looked = 0, 0.0
    timed_out = over_memory = False
    with contextlib.closing(_Ending(child)) as ended:
        while True:
            pid, status, usage = os.wait4(child, os.WNOHANG)
            now = time.monotonic()
            if pid:
                break
            if ended.waits_for(line):
                raise EOFError
            if now - looked > WATCH:
                looked, peak = now, max(peak, _memory())
                over_memory = peak > order.memory_limit
            timed_out = now - start > order.timeout
            if timed_out or over_memory:
                os.kill(child, signal.SIGKILL)
    return {
        "exit_code": os.waitstatus_to_exitcode(status),
        "seconds": now - start,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_memory_bytes": max(peak, usage.ru_maxrss << 10),
        "timed_out": timed_out,
        "over_memory": over_memory,
    }


class _Ending:
    """The end of a child, which Linux tells at once; elsewhere it is found at the next tick."""

    def __init__(self, child: int) -> None:
        self._handle: int | None = None
        if sys.platform == "linux":
            with contextlib.suppress(OSError):  # a kernel older than 5.3, or a sandbox
                self._handle = os.pidfd_open(child)

    def waits_for(self, line: "Connection[Any, Any]") -> bool:
        """Wait for it, but not for longer than a tick; whether the line spoke instead."""
        return line in wait([line] if self._handle is None else [line, self._handle], timeout=TICK)

    def close(self) -> None:
        """Let go of what the system has for it."""
        if self._handle is not None:
            os.close(self._handle)


def _memory() -> int:
    """Bytes that the descendants hold: the resident set of the largest, and what each other has to itself.

    This counts no page twice, and what a child has from this parent counts as its own, as in a cold process.
    """
    resident = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            resident.append((process.memory_info().rss, process))
    if not resident:
        return 0
    resident.sort(key=lambda pair: pair[0])
    total = resident.pop()[0]
    for _, process in resident:
        with contextlib.suppress(psutil.Error):
            total += process.memory_full_info().uss
    return total


def _end_descendants() -> None:
    """Kill every descendant, also those that left the process group: orphans come back here, so none gets away."""
    while descendants := psutil.Process().children(recursive=True):
        for process in descendants:
            with contextlib.suppress(psutil.Error):
                process.kill()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _tail(stream: IO[bytes]) -> str:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - TAIL_BYTES))
    return stream.read().decode(errors="replace")


def _live(order: Order, kind: network_block.Kind, outputs: tuple[int, int]) -> NoReturn:
    """The life of a child: a session of its own, then the work. It never returns into the fork parent's code."""
    code = 1
    try:
        os.setsid()
        for standard, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), *outputs)):
            os.dup2(descriptor, standard)
        os.chdir(order.cwd)
        os.environ["TMPDIR"] = tempfile.tempdir = order.cwd  # what it leaves behind goes with its folder
        network_block.close(kind)
        work, args = pickle.loads(order.call)  # noqa: S301 - from the process that started this one
        work(*args)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - the end of the process
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(code & 0xFF)

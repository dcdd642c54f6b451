"""The fork server's own process: import the libraries once, then fork a child for each job and watch it.

This process must do nothing but import. A child of a process that has run an OpenMP region on two threads hangs, and a
child of a process with a CUDA context cannot use CUDA. So jobs are unpickled in the child.
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

TICK = 0.02  # seconds between two checks of the child's state
WATCH = 0.1  # seconds between two measurements of its memory
TAIL_BYTES = 1 << 20  # bytes kept from the end of each stream
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


@dataclass(frozen=True, slots=True)
class ProcessOutcome:
    """How the process of one job ended. The job's results are in the files and the output that it wrote."""

    exit_code: int
    """The exit status, or the negative signal number if a signal killed the process."""
    seconds: float
    """Wall time from the fork to the end."""
    cpu_seconds: float
    """User and system time of the process and of the children that it waited for."""
    peak_memory_bytes: int
    """Peak memory of the process and all its descendants together; no page is counted twice."""
    timed_out: bool
    over_memory: bool
    stdout: str
    """The last MiB of standard output."""
    stderr: str
    network: network_block.Kind
    """How the network was blocked."""
    others_cpu: float | None
    """Share of the cores' time that other processes used during the job; None if the system does not report it."""


@dataclass(frozen=True, slots=True)
class Job:
    """One function call and its limits, as sent to the fork server."""

    call: bytes
    """The function and its arguments, pickled."""
    cwd: str
    timeout: float
    memory_limit: int


def main(descriptor: int, offline: bool, preload: Sequence[str]) -> None:  # noqa: FBT001 - called by `python -c`
    """Import the modules, then fork one child for each job received, until the connection closes."""
    connection: Connection[Any, Any] = Connection(descriptor)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # during the imports, this process does not notice a closed connection
    try:
        for name in preload:
            importlib.import_module(name)
        kind = network_block.available() if offline else network_block.Kind.OPEN
        gc.freeze()  # a garbage collection in a child would write to every object, and so copy every page
    except Exception:  # noqa: BLE001 - the caller gets the traceback of any failed import
        connection.send(traceback.format_exc())
        return
    _prctl(_PR_SET_PDEATHSIG, 0)  # from now on it notices, and kills its descendants before it exits
    # Adopt orphaned descendants, also those that have started a session: then `_end_descendants` finds them all.
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    with contextlib.suppress(EOFError, ConnectionError):
        connection.send(None)
        while True:
            job = connection.recv()
            connection.send(_run_job(job, kind, connection))
    os._exit(0)  # unloading the libraries would take a second


def _prctl(option: int, value: int) -> None:
    """Set a process attribute with prctl on Linux; do nothing elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _run_job(job: Job, kind: network_block.Kind, connection: "Connection[Any, Any]") -> ProcessOutcome:
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        start, load = time.monotonic(), _CpuLoad()
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            connection.close()
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # the child must not outlive the process that watches it
            if os.getppid() != parent:
                os._exit(1)
            _run_child(job, kind, (stdout.fileno(), stderr.fileno()))
        try:
            watch = _watch(child, job, start, connection)
            others = load.others(watch["cpu_seconds"])
        finally:
            _end_descendants()
        return ProcessOutcome(**watch, stdout=_tail(stdout), stderr=_tail(stderr), network=kind, others_cpu=others)


class _CpuLoad:
    """The CPU load of other processes from now on: all but one job and this process."""

    def __init__(self) -> None:
        self._cores, self._watch = environment.cpu_seconds(), time.process_time()

    def others(self, work_seconds: float) -> float | None:
        """Return the share of the cores' time, from 0 to 1, that is not the job's ``work_seconds``."""
        now = environment.cpu_seconds()
        if self._cores is None or now is None or now[1] <= self._cores[1]:
            return None
        own = work_seconds + time.process_time() - self._watch
        share = (now[0] - self._cores[0] - own) / (now[1] - self._cores[1])
        return min(max(share, 0.0), 1.0)  # the system counts in hundredths of a second


def _watch(child: int, job: Job, start: float, connection: "Connection[Any, Any]") -> dict[str, Any]:
    """Wait for the child; kill it over a limit.

    Raises:
        EOFError: the caller has closed the connection.
    """
    peak, looked = 0, 0.0
    timed_out = over_memory = False
    with contextlib.closing(_ExitWatch(child)) as watch:
        while True:
            pid, status, usage = os.wait4(child, os.WNOHANG)
            now = time.monotonic()
            if pid:
                break
            if watch.wait_or_readable(connection):
                raise EOFError
            if now - looked > WATCH:
                looked, peak = now, max(peak, _memory())
                over_memory = peak > job.memory_limit
            timed_out = now - start > job.timeout
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


class _ExitWatch:
    """Waits for a child's exit: on Linux without delay, elsewhere until the next tick."""

    def __init__(self, child: int) -> None:
        self._handle: int | None = None
        if sys.platform == "linux":
            with contextlib.suppress(OSError):  # a kernel older than 5.3, or a sandbox
                self._handle = os.pidfd_open(child)

    def wait_or_readable(self, connection: "Connection[Any, Any]") -> bool:
        """Wait for the exit for at most a tick, and return whether the connection became readable."""
        return connection in wait([connection] if self._handle is None else [connection, self._handle], timeout=TICK)

    def close(self) -> None:
        """Close the process's handle."""
        if self._handle is not None:
            os.close(self._handle)


def _memory() -> int:
    """Return the bytes of all descendants: the resident set of the largest, plus the unique set of each other one.

    This counts no page twice. Pages that a child shares with this process count as the child's, as without a fork.
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
    """Kill every descendant, also those that left the process group: this process adopts orphans."""
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


def _run_child(job: Job, kind: network_block.Kind, outputs: tuple[int, int]) -> NoReturn:
    """Run the job in the child, in a session of its own, and exit; never return into the server's loop."""
    code = 1
    try:
        os.setsid()
        for standard, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), *outputs)):
            os.dup2(descriptor, standard)
        os.chdir(job.cwd)
        os.environ["TMPDIR"] = tempfile.tempdir = job.cwd  # its temporary files are deleted with its folder
        network_block.close(kind)
        work, args = pickle.loads(job.call)  # noqa: S301 - from the process that started this one
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

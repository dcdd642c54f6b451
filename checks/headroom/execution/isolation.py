"""Run functions in isolated processes, forked from a server process that has the libraries imported.

``multiprocessing.forkserver`` does not serve here. A process can have only one, with the environment of its first use;
it hides failed imports; and each child runs the caller's ``__main__`` again. Several ``ForkServer`` objects can exist
at once, each with its own environment (two local hubs, for example).
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import Pipe
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from headroom.execution.fork_server import Job, ProcessOutcome

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["ForkServer", "ForkServerError", "ProcessOutcome"]

QUIET = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "GLOO_SOCKET_IFNAME": "lo",
}
"""Environment variables for repeatable runs: one thread, and process groups on the loopback device."""
_OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
PRELOAD = ("headroom.execution.preload",)
"""The modules that most snippets and benchmarks import."""


class ForkServerError(RuntimeError):
    """The fork server cannot be started, or has died; the job has no result."""


class ForkServer:
    """Runs functions in processes of their own, one at a time.

    The server process starts with the first job and runs until ``close``; leaving a ``with`` block closes it.

    Args:
        environment: variables of the server and its children, added to those of this process.
        preload: modules to import before the first fork.
        offline: block every network but loopback, and set the libraries' offline switches.
    """

    def __init__(
        self, environment: Mapping[str, str], preload: Sequence[str] = PRELOAD, *, offline: bool = True
    ) -> None:
        self._environment = {**(_OFFLINE if offline else {}), **environment}
        self._preload, self._offline = tuple(preload), offline
        self._parent: subprocess.Popen[bytes] | None = None
        self._connection: Connection[Any, Any] | None = None

    def run(
        self, work: Callable[..., object], *args: object, timeout: float, memory_limit: int, cwd: Path
    ) -> ProcessOutcome:
        """Call ``work(*args)`` in a fresh child and wait until it ends.

        Args:
            work: a function of a module that the child can import; its return value is dropped.
            args: arguments that can be pickled.
            timeout: seconds of wall time after which the child and all its descendants are killed.
            memory_limit: bytes that the child and its descendants may use together.
            cwd: the working directory of the child.

        A failure of the work itself raises nothing. If the wait is interrupted, the child is killed.

        Raises:
            ForkServerError: the server did not start, or has died.
        """
        job = Job(pickle.dumps((work, args)), str(cwd.resolve()), timeout, memory_limit)
        try:
            connection = self._connection or self._start()
            connection.send(job)
            outcome: ProcessOutcome = connection.recv()
        except (EOFError, ConnectionError) as error:
            self.close()
            raise ForkServerError(
                f"the fork server died; run `python -c 'import {', '.join(self._preload)}'` to see why"
            ) from error
        except BaseException:
            self.close()
            raise
        return outcome

    def start(self) -> Self:
        """Start the server now, so that the time of its imports does not fall into the first job.

        Raises:
            ForkServerError: the server did not start.
        """
        try:
            self._connection = self._connection or self._start()
        except BaseException:
            self.close()
            raise
        return self

    def _start(self) -> "Connection[Any, Any]":
        """Start the server with this process's import path, and wait until it has imported the modules."""
        self._connection, theirs = Pipe()
        call = f"main({theirs.fileno()}, {self._offline}, {self._preload})"
        path = [str(part) for part in sys.path]
        code = f"import sys; sys.path[:] = {path}; from headroom.execution.fork_server import main; {call}"
        self._parent = subprocess.Popen(  # noqa: S603 - this interpreter
            [sys.executable, "-c", code],
            env={**os.environ, **self._environment},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches only this process, which then closes the connection
        )
        theirs.close()
        if failure := self._connection.recv():
            raise ForkServerError(
                f"the libraries cannot be imported; install headroom[snippets], or fix this error:\n{failure}"
            )
        return self._connection

    def close(self) -> None:
        """Stop the server, and kill the job that it runs."""
        if self._connection is not None:
            self._connection.close()
        if self._parent is not None:
            self._parent.wait()
        self._connection = self._parent = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

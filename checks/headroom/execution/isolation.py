"""One process for one piece of work, forked from a parent that has the libraries loaded.

``multiprocessing`` has such a parent too, but one only for the whole process: its environment is that of its first
use, it swallows what goes wrong in its imports, and each child runs the caller's ``__main__`` again. Here every
``Nursery`` has a parent of its own, so that two with different environments (two hubs, say) live side by side.
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

from headroom.execution.fork_server import Order, ProcessOutcome

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["ForkServer", "ForkServerError", "ProcessOutcome"]

QUIET = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "GLOO_SOCKET_IFNAME": "lo",
}
"""What work that is to be repeatable finds in its environment: one thread, and processes that meet on loopback."""
_OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
PRELOAD = ("headroom.execution.preload",)
"""The modules of which every snippet and benchmark uses some."""


class ForkServerError(RuntimeError):
    """The fork parent cannot be had; nothing was run."""


class ForkServer:
    """Runs functions in processes of their own, one at a time.

    The fork parent starts with the first piece of work and lives until ``close``; leaving a ``with`` block closes.

    Args:
        environment: variables of the fork parent and its children, besides those of this process.
        preload: the modules that children find loaded.
        offline: keep the work from every network but loopback, and tell the libraries not to try.
    """

    def __init__(
        self, environment: Mapping[str, str], preload: Sequence[str] = PRELOAD, *, offline: bool = True
    ) -> None:
        self._environment = {**(_OFFLINE if offline else {}), **environment}
        self._preload, self._offline = tuple(preload), offline
        self._parent: subprocess.Popen[bytes] | None = None
        self._line: Connection[Any, Any] | None = None

    def run(
        self, work: Callable[..., object], *args: object, timeout: float, memory_limit: int, cwd: Path
    ) -> ProcessOutcome:
        """Call ``work(*args)`` in a fresh child and wait for its end.

        Args:
            work: a function of a module that the child can import; what it returns is dropped.
            args: anything that can be pickled.
            timeout: seconds of wall time after which the child and all its descendants are killed.
            memory_limit: bytes that they may hold together.
            cwd: the folder that the work starts in.

        Nothing is raised for what the work does. If the wait is interrupted, the work is killed.

        Raises:
            NurseryError: the fork parent did not start, or has died.
        """
        order = Order(pickle.dumps((work, args)), str(cwd.resolve()), timeout, memory_limit)
        try:
            line = self._line or self._start()
            line.send(order)
            outcome: ProcessOutcome = line.recv()
        except (EOFError, ConnectionError) as error:
            self.close()
            raise ForkServerError(
                f"the fork parent died; try `python -c 'import {', '.join(self._preload)}'`"
            ) from error
        except BaseException:
            self.close()
            raise
        return outcome

    def start(self) -> Self:
        """Start the fork parent now: whoever keeps time does not want the libraries' time in the first piece of work.

        Raises:
            NurseryError: as ``run``.
        """
        try:
            self._line = self._line or self._start()
        except BaseException:
            self.close()
            raise
        return self

    def _start(self) -> "Connection[Any, Any]":
        """Start the fork parent with this process's import path, and wait until it has imported the modules."""
        self._line, theirs = Pipe()
        call = f"main({theirs.fileno()}, {self._offline}, {self._preload})"
        path = [str(part) for part in sys.path]
        code = f"import sys; sys.path[:] = {path}; from headroom.execution.fork_server import main; {call}"
        self._parent = subprocess.Popen(  # noqa: S603 - this interpreter
            [sys.executable, "-c", code],
            env={**os.environ, **self._environment},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for this process, which then closes the line
        )
        theirs.close()
        if failure := self._line.recv():
            raise ForkServerError(
                f"the libraries cannot be imported; install headroom[snippets], or correct this:\n{failure}"
            )
        return self._line

    def close(self) -> None:
        """End the fork parent, and with it the work that it watches."""
        if self._line is not None:
            self._line.close()
        if self._parent is not None:
            self._parent.wait()
        self._line = self._parent = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

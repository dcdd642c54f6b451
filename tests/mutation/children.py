"""Work in a child process with bounds on its time and memory."""

import contextlib
import os
import resource
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

_MEMORY = 4 << 30
ENDLESS = (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL)
"""How a child ends that has used up its time."""


def forked(work: Callable[[], str], *, seconds: float) -> tuple[int, str]:
    """The exit code of a child that does some work, and its result; an empty one where it did not come to an end.

    Args:
        work: what it does.
        seconds: of CPU time. A child that waits may take ten times as long by the clock, and a minute.
    """
    handle, name = tempfile.mkstemp()
    os.close(handle)
    path = Path(name)
    if (child := os.fork()) == 0:
        code = 1
        with contextlib.suppress(BaseException):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(int(10 * seconds) + 60)
            path.write_text(work(), "utf-8")
            code = 0
        os._exit(code)
    _, status = os.waitpid(child, 0)
    text = path.read_text("utf-8")
    path.unlink()
    return os.waitstatus_to_exitcode(status), text

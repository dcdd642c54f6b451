"""Run the command in a fresh process, and measure its time and memory."""

import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CPU_SECONDS = 40
"""A child that computes longer is killed: a hang is a failure, however busy the machine is. The worst files together
take 9 to 19 s, by the clock rate that the machine has that day."""
_MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(done.returncode if done.returncode >= 0 else 100)
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a command."""

    code: int
    out: str
    err: str
    peak_mib: float
    """The largest resident set of its process."""


def check(root: Path, *options: str) -> Outcome:
    """Run `headroom check` on a tree as a child of a small process, so that only its own memory is counted."""
    command = [sys.executable, "-m", "headroom.cli", "check", "--root", str(root), *options]
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, *command],
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS)),
    )
    *lines, last = done.stderr.decode().splitlines(keepends=True)
    return Outcome(done.returncode, done.stdout.decode(), "".join(lines), int(last) / 1024)

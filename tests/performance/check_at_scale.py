"""Measure CPU seconds and memory of `headroom check`, for this project and for a large tree.

Run it by hand: `python tests/performance/check_at_scale.py`. The large tree is made in a temporary folder, from copies
of this project's pages and snippets: at least 500 snippets, 600 claims and 1,200 sessions. It prints the user and
system time of a child, as the minimum and maximum of three calls, and the child's largest resident set.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from large_trees import PROJECT, make_from_project

COPIES, ADDED_CLAIMS, ADDED_SESSIONS = 5, 456, 1078
OWN_SECONDS, LARGE_SECONDS, MIB = 2.5, 6.0, 400.0
TRIES = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one call of the command."""

    seconds: float
    mib: float
    summary: str
    """The last line that the command printed."""


def check(root: Path) -> Cost:
    """Run the command on a tree without problems.

    Raises:
        RuntimeError: it found a problem, or loaded torch.
    """
    code = "import sys; from headroom.cli import main; status = main(); sys.exit(status or 'torch' in sys.modules)"
    command = [sys.executable, "-c", code, "check", "--root", str(root)]
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            command, stdout=output, stderr=output, env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    if child.returncode:
        raise RuntimeError(text)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, text.splitlines()[-1])


def meets_budgets(root: Path, seconds: float) -> bool:
    """Print the cost of a check, and return whether it meets its budgets."""
    costs = [check(root) for _ in range(TRIES)]
    least, most = min(each.seconds for each in costs), max(each.seconds for each in costs)
    mib = max(each.mib for each in costs)
    print(costs[0].summary)
    print(f"  {least:.2f} s of CPU, at most {most:.2f} s, budget {seconds:.2f} s; {mib:.0f} MiB, budget {MIB:.0f} MiB")
    return least <= seconds and mib <= MIB


def main() -> int:
    """Check both trees and return 0 if both meet their budgets."""
    with tempfile.TemporaryDirectory() as folder:
        make_from_project(Path(folder), COPIES, ADDED_CLAIMS, ADDED_SESSIONS)
        kept = [meets_budgets(PROJECT, OWN_SECONDS), meets_budgets(Path(folder), LARGE_SECONDS)]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    raise SystemExit(main())

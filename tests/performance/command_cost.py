"""Measure the CPU seconds of `headroom --help` and `headroom check`, and whether they import torch.

Run it by hand: `python tests/performance/command_cost.py [ROOT]`. It prints the user and system time of a child, the
median of five, next to its budget.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 5
BUDGETS = {("--help",): 0.2, ("check",): 1.0}
PROBE = """
import atexit, pathlib, sys
atexit.register(lambda: pathlib.Path(sys.argv[1]).write_text(str("torch" in sys.modules)))
from headroom.cli import main
sys.exit(main(sys.argv[2:]))
"""


def cost(root: Path, arguments: tuple[str, ...]) -> tuple[float, bool]:
    """Return the CPU seconds of one call of the command, and whether it imported torch.

    Raises:
        RuntimeError: the command rejected its arguments.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "torch"
        before = os.times()
        done = subprocess.run(
            [sys.executable, "-c", PROBE, str(report), *arguments],
            cwd=root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        after = os.times()
        if done.returncode not in (0, 1) or not report.exists():
            raise RuntimeError(done.stderr.decode())
        seconds = after.children_user + after.children_system - before.children_user - before.children_system
        return seconds, report.read_text("utf-8") == "True"


def main(root: Path) -> int:
    """Print each cost and return 0 if all budgets are met and no call imports torch."""
    kept = True
    for arguments, budget in BUDGETS.items():
        costs = [cost(root, arguments) for _ in range(RUNS)]
        seconds = statistics.median(seconds for seconds, _ in costs)
        torch = any(torch for _, torch in costs)
        kept = kept and seconds <= budget and not torch
        print(
            f"headroom {' '.join(arguments)}: {seconds:.2f} s of CPU, budget {budget:.1f} s, "
            f"torch {'imported' if torch else 'not imported'}"
        )
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]))

"""Compare the CPU time of snippets that are forked from the fork server with that of a cold start.

Run it by hand: `python tests/performance/snippet_cost.py [ROOT]`. The times do not include the fork server's own
imports, which happen once per session. The goal is a median of less than a third of the cold start.
"""

import statistics
import sys
from pathlib import Path

from headroom.execution.snippet_runner import Passed, Runner
from headroom.records import load

GOAL = 1 / 3


def main(root: Path) -> int:
    """Print a line per snippet that runs here and the median share, and return 0 if the goal is met."""
    tree = load(root)
    warm, cold = (Runner(tree, root / ".cache"), Runner(tree, root / ".cache", preload=()))
    shares = []
    for name, snippet in sorted(tree.snippets.items()):
        results = warm.run(snippet), cold.run(snippet)
        seconds = [result.cpu_seconds for result in results if isinstance(result, Passed)]
        if len(seconds) < len(results):
            print(f"{name}: {next(result for result in results if not isinstance(result, Passed))}")
            continue
        shares.append(seconds[0] / seconds[1])
        print(f"{name}: {seconds[0]:.2f} s, cold {seconds[1]:.2f} s, share {shares[-1]:.2f}")
    for runner in (warm, cold):
        runner.close()
    if not shares:
        print("no snippet ran")
        return 1
    print(f"median share {statistics.median(shares):.2f}, goal {GOAL:.2f}")
    return 0 if statistics.median(shares) < GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2]))

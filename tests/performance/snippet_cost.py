"""What a snippet costs when it is forked from a parent that has the libraries, against a start from nothing.

Run it by hand: `python tests/performance/snippet_cost.py [ROOT]`. Times are seconds of CPU of the processes that the
snippet needs; the parent's own imports are paid once a session and are not in them. The goal: in the median a snippet
costs less than a third of its cold run.
"""

import statistics
import sys
from pathlib import Path

from headroom.execution.snippet_runner import Passed, Runner
from headroom.records import load

GOAL = 1 / 3


def main(root: Path) -> int:
    """Print a line for each snippet that runs here, and the median share; 0 if the goal is met."""
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

"""How many small faults the tests would notice: `python tests/mutation/run.py`; with `--sample 40`, of some only.

It prints every mutant that survives, and with `--record` writes result.json, which docs/contribute/testing.md prints.
"""

import argparse
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np  # noqa: F401 - what the package leans on, imported once for every child
import pydantic  # noqa: F401
import yaml  # noqa: F401

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
sys.path[:0] = [str(ROOT / "checks"), str(ROOT / "tests")]
os.environ["PYTHONPATH"] = str(ROOT / "checks")  # wherever an installed package comes from

from mutation.operators import Mutant, mutants  # noqa: E402
from mutation.running import Outcome, Runner  # noqa: E402

PARTS = ("statistics", "verdicts", "records", "prose")
# Tests that run in this process: those that start others would try the package as it is. The slow ones are left out.
QUICK = ["-knot Rates and not ErrorRate and not Running and not four_times", *(f"tests/test_{name}.py" for name in (
    "statistics", "verdicts", "records", "parsing", "files", "prose", "sentences", "comparisons", "strength",
    "sessions", "limits", "gate_edges", "record_edges", "standing", "notebooks", "beside",
    "freshness", "crossover", "modelled", "disputes", "noise", "roofline", "against_itself", "cache",
))]  # fmt: skip
TESTS = [*QUICK, *(f"tests/test_{name}.py" for name in ("rules", "canaries", "clean_tree"))]
RESULT = HERE / "result.json"
GOAL = 0.85


def modules() -> dict[str, Path]:
    """The modules of the parts, by dotted name."""
    package = ROOT / "checks/headroom"
    paths = [path for part in PARTS for path in sorted([*package.glob(f"{part}.py"), *package.glob(f"{part}/**/*.py")])]
    names = (path.relative_to(ROOT / "checks").with_suffix("").parts for path in paths)
    return dict(zip((".".join(name).removesuffix(".__init__") for name in names), paths, strict=True))


def part(mutant: Mutant) -> str:
    """The part that a mutant belongs to."""
    return mutant.module.split(".")[1]


def every() -> list[Mutant]:
    """All mutants, also those that change nothing that anybody could see."""
    return [m for name, path in modules().items() for m in mutants(name, path.read_text("utf-8"), str(path))]


def sampled(found: Sequence[Mutant], size: int, seed: int) -> list[Mutant]:
    """As many mutants of each part, drawn by a seed."""
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    by_part = ([mutant for mutant in found if part(mutant) == name] for name in PARTS)
    return [mutant for of_part in by_part for mutant in rng.sample(of_part, size // len(PARTS))]


def counted(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """Mutants and killed ones by part."""
    mutants_of = Counter(part(outcome.mutant) for outcome in outcomes)
    killed_of = Counter(part(outcome.mutant) for outcome in outcomes if outcome.killed)
    return {name: {"mutants": mutants_of[name], "killed": killed_of[name]} for name in PARTS if mutants_of[name]}


def record(counts: dict[str, dict[str, int]]) -> None:
    """Write what is known of each part of which every mutant was tried, and keep what is known of the others."""
    known = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    whole = Counter(map(part, every()))
    day = datetime.now(UTC).date().isoformat()
    known |= {name: {**count, "date": day} for name, count in counts.items() if count["mutants"] == whole[name]}
    RESULT.write_text(json.dumps({name: known[name] for name in PARTS if name in known}, indent=1) + "\n", "utf-8")


def before(log: Path | None) -> dict[str, bool]:
    """What became of each mutant in an earlier run."""
    rows = [json.loads(row) for row in log.read_text("utf-8").splitlines()] if log and log.exists() else []
    return {row["mutant"]: row["killed"] for row in rows}


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="as many mutants, over the parts, tried with fewer tests")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--only", nargs="+", default=[""], help="mutants whose name holds one of these")
    parser.add_argument("--again", action="store_true", help="take over from the log what was killed; try what was not")
    parser.add_argument("--record", action="store_true", help="write result.json, of parts that were tried as a whole")
    parser.add_argument("--log", type=Path, help="write every outcome, one a line")
    return parser.parse_args()


def main() -> int:
    """Run what is asked for; the exit code says whether every part reaches the goal."""
    options = arguments()
    chosen = [mutant for mutant in every() if any(words in str(mutant) for words in options.only)]
    if options.sample:
        chosen = sampled(chosen, options.sample, options.seed)
    earlier = before(options.log) if options.again else {}
    outcomes = [Outcome(mutant, killed=True, by="earlier") for mutant in chosen if earlier.get(str(mutant))]

    def report(outcome: Outcome) -> None:
        outcomes.append(outcome)
        if not outcome.killed:
            place = modules()[outcome.mutant.module].relative_to(ROOT)
            print(f"{place}:{outcome.mutant.line}: {outcome.mutant} [{outcome.by}]", flush=True)
        if options.log:
            row = {"mutant": str(outcome.mutant), "killed": outcome.killed, "by": outcome.by}
            with options.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(row) + "\n")

    runner = Runner(ROOT, modules(), QUICK if options.sample else TESTS, 1.0 if options.sample else 3.0)
    runner.run([mutant for mutant in chosen if not earlier.get(str(mutant))], report)
    counts = counted(outcomes)
    print(json.dumps(counts))
    if options.record:
        record(counts)
    return int(any(count["killed"] < GOAL * count["mutants"] for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())

"""How many small faults the tests would notice: `python tests/mutation/run.py`, all; with `--sample 400`, of so many.

It prints every mutant that survives, and with `--record` writes result.json, which docs/contribute/testing.md prints.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import hypothesis  # noqa: F401 - what the package and its tests lean on, imported once for every child
import numpy as np  # noqa: F401
import pydantic  # noqa: F401
import yaml  # noqa: F401

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
sys.path[:0] = [str(ROOT / "checks"), str(ROOT / "tests")]
os.environ["PYTHONPATH"] = str(ROOT / "checks")  # wherever an installed package comes from

from mutation.operators import Mutant, mutants  # noqa: E402
from mutation.running import Outcome, Runner  # noqa: E402
from mutation.sampling import drawn, interval  # noqa: E402

PARTS = ("statistics", "verdicts", "records", "prose")
# Tests that run in this process: those that start others would try the package as it is. The slow ones are left out.
SLOW = ("Rates", "ErrorRate", "Running", "four_times", "after_any_edit", "bounded_by_what_is_used")
QUICK = [f"-knot {' and not '.join(SLOW)}", *(f"tests/test_{name}.py" for name in (
    "statistics", "verdicts", "records", "parsing", "prose", "sentences", "comparisons", "finder", "strength",
    "sessions", "limits", "gate_edges", "record_edges", "standing", "notebooks", "beside",
    "freshness", "crossover", "modelled", "disputes", "noise", "roofline", "against_itself", "pairing",
)), *(f"tests/site/test_{name}.py" for name in ("addresses", "glossary"))]  # fmt: skip
TESTS = [*QUICK, *(f"tests/test_{name}.py" for name in ("files", "cache", "rules", "rule_cases", "clean_tree"))]
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


def every() -> dict[str, list[Mutant]]:
    """All mutants by part, also those that change nothing that anybody could see."""
    found: dict[str, list[Mutant]] = {name: [] for name in PARTS}
    for name, path in modules().items():
        for mutant in mutants(name, path.read_text("utf-8"), str(path)):
            found[part(mutant)].append(mutant)
    return found


def counted(outcomes: Sequence[Outcome], whole: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """By part: its mutants, those tried, and those killed."""
    tried = Counter(part(outcome.mutant) for outcome in outcomes)
    killed = Counter(part(outcome.mutant) for outcome in outcomes if outcome.killed)
    return {
        name: {"mutants": whole[name], "tried": tried[name], "killed": killed[name]} for name in PARTS if tried[name]
    }


def record(counts: dict[str, dict[str, int]], seed: int) -> None:
    """Write what is known of these parts, and keep what is known of the others."""
    known = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    for name, count in counts.items():
        known[name] = {**count, "date": datetime.now(UTC).date().isoformat()}
        if count["tried"] < count["mutants"]:
            known[name] |= {"seed": seed, "between": interval(count["killed"], count["tried"], count["mutants"])}
    RESULT.write_text(json.dumps({name: known[name] for name in PARTS if name in known}, indent=1) + "\n", "utf-8")


def before(log: Path | None) -> dict[str, bool]:
    """What became of each mutant in an earlier run."""
    rows = [json.loads(row) for row in log.read_text("utf-8").splitlines()] if log and log.exists() else []
    return {row["mutant"]: row["killed"] for row in rows}


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="parts of the package")
    parser.add_argument("--sample", type=int, help="so many mutants of each part, drawn by chance")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--quick", action="store_true", help="with fewer tests")
    parser.add_argument("--only", nargs="+", help="mutants whose name holds one of these")
    parser.add_argument("--again", action="store_true", help="take over from the log what was killed; try what was not")
    parser.add_argument("--record", action="store_true", help="write result.json")
    parser.add_argument("--log", type=Path, help="write every outcome, one a line")
    options = parser.parse_args()
    if options.record and (options.only or options.quick):
        parser.error("only what is drawn by chance from a part, and tried with all tests, is recorded")
    return options


def main() -> int:
    """Run what is asked for; the exit code says whether every part reaches the goal."""
    options = arguments()
    found = every()
    chosen = [
        mutant
        for name in options.parts
        for mutant in drawn(found[name], options.sample or len(found[name]), options.seed)
        if options.only is None or any(words in str(mutant) for words in options.only)
    ]
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

    runner = Runner(ROOT, modules(), QUICK if options.quick else TESTS, 0.5 if options.quick else 5.0)
    runner.run([mutant for mutant in chosen if not earlier.get(str(mutant))], report)
    counts = counted(outcomes, {name: len(of_part) for name, of_part in found.items()})
    print(json.dumps(counts))
    if options.record:
        record(counts, options.seed)
    return int(any(count["killed"] < GOAL * count["tried"] for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())

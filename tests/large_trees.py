"""Build trees of any size without problems: claims and sessions, and the pages, methods and snippets around them.

``make`` writes made-up claims alone, ``make_from_project`` adds them to copies of this project's pages and snippets.
Sessions are written as text, which is faster than through pydantic models. Seeded: the same size gives the same bytes.
"""

import json
import math
import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from factories import CLASSES, H200, MACHINE, SNIPPET, a_run_record, write
from headroom.environment import MachineState
from headroom.io.python_source import syntax_sha256
from headroom.io.safe_read import sha256
from headroom.records.evidence import Slot, block_order
from headroom.records.paths import claim_path, run_path

BLOCKS = 20
PER_BENCHMARK = 25
"""The number of claims that share a benchmark, a method and a page."""
GRID = (1, 8, 64)
DATES = ("2026-11-18", "2026-11-19", "2026-11-20")
PROJECT = Path(__file__).resolve().parents[1]
COPIED = "training"
"""The copied folder of docs/ and snippets/."""
_ONE_PLACE = re.compile(r"^(?:was|answers):\n(?:[ \t].*\n)+", re.MULTILINE)
"""Front matter that only one page may have: its old addresses, and the choices of the start page that lead to it."""
_ENVIRONMENT = {name: getattr(MACHINE, name) for name in MachineState.__slots__} | H200


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one claim of the tree, by its number."""

    number: int
    sessions: int = 2

    @property
    def id(self) -> str:
        """Its id."""
        return f"scale.way-{self.number:05}.step-time"

    @property
    def group(self) -> str:
        """The name of its benchmark, method and page."""
        return f"{self.number // PER_BENCHMARK:04}"

    @property
    def arm(self) -> str:
        """The arm that the claim says is better; all claims of a benchmark share the baseline."""
        return f"way {self.number % PER_BENCHMARK}"

    @property
    def sizes(self) -> tuple[int, ...]:
        """The batch sizes at which it is measured: every tenth claim has a sweep, measured in one session."""
        return GRID if self.number % 10 == 0 else (8,)

    @property
    def claim_file(self) -> str:
        """The path of the claim."""
        return claim_path(self.id)

    @property
    def page_file(self) -> str:
        """The path of the page that links it."""
        return f"docs/scale/page-{self.group}.md"


def make(root: Path, claims: int) -> list[Plan]:
    """Write a tree of made-up claims, each with two sessions of its own, and return the plan of each."""
    write(root / "checks/facts/hardware-classes.yml", yaml.safe_dump(CLASSES))
    write(root / "mkdocs.yml", "site_name: Scale\nnav:\n")
    return _add(root, claims, 2 * claims)


def make_from_project(root: Path, copies: int, claims: int, sessions: int) -> None:
    """Write this project's tree, copies of its pages and snippets under other names, and made-up claims.

    Args:
        root: an empty or missing folder.
        copies: how often each page and snippet of ``COPIED`` is there besides the original.
        claims: how many claims are added to the project's.
        sessions: how many sessions are added to the project's, two or three of each added claim.
    """
    for folder in ("docs", "snippets", "checks"):
        shutil.copytree(PROJECT / folder, root / folder, ignore=shutil.ignore_patterns(".*", "headroom"))
    shutil.copy(PROJECT / "mkdocs.yml", root)
    for number in range(2, copies + 2):
        _copy(root, COPIED, number)
    classes = root / "checks/facts/hardware-classes.yml"
    known = classes.read_text("utf-8")
    added = {name: found for name, found in CLASSES.items() if f"\n{name}:" not in known}
    classes.write_text(known + yaml.safe_dump(added), "utf-8")
    _add(root, claims, sessions)


def _copy(root: Path, folder: str, number: int) -> None:
    """Copy the pages of a folder and the snippets that they show, with the records of their runs."""
    copy = f"{folder}-{number}"
    pages = sorted((root / "docs" / folder).rglob("*.md"))
    for page in pages:
        text = page.read_text("utf-8").replace(f'"snippets/{folder}/', f'"snippets/{copy}/')
        write(root / "docs" / copy / page.relative_to(root / "docs" / folder), _ONE_PLACE.sub("", text))
    for top, suffix in (("snippets", ".py"), ("checks/runs", ".json")):
        for path in sorted((root / top / folder).rglob(f"*{suffix}")):
            text = path.read_text("utf-8").replace(f'"snippet": "{folder}/', f'"snippet": "{copy}/')
            write(root / top / copy / path.relative_to(root / top / folder), text)
    _add_to_nav(root, [page.relative_to(root / "docs" / folder).as_posix() for page in pages], copy)


def _add_to_nav(root: Path, pages: list[str], folder: str) -> None:
    config = root / "mkdocs.yml"
    config.write_text(config.read_text("utf-8") + "".join(f"  - {folder}/{page}\n" for page in pages), "utf-8")


def _add(root: Path, claims: int, sessions: int) -> list[Plan]:
    """Add made-up claims, their sessions, and their pages, to a tree."""
    plans = [Plan(number, 2 + (number < sessions - 2 * claims)) for number in range(claims)]
    groups = [plans[start : start + PER_BENCHMARK] for start in range(0, claims, PER_BENCHMARK)]
    pages = [_group(root, group) for group in groups]
    _add_to_nav(root, pages, "scale")
    return plans


def _group(root: Path, plans: list[Plan]) -> str:
    """Write the benchmark, method, facts, snippet and page of some claims, and the claims with their evidence."""
    name = plans[0].group
    arms = ", ".join(repr(arm) for arm in ("plain", *(plan.arm for plan in plans)))
    source = f'"""Ways of the group {name}."""\n\nARMS = ({arms})\nGROUP = "{name}"\n'
    write(root / f"checks/benchmarks/ways_{name}.py", source)
    rows = [_claim(root, plan, syntax_sha256(source)) for plan in plans]
    method = {
        "id": f"ways-{name}",
        "name": f"Ways {name}",
        "symptoms": ["too slow"],
        "section": f"scale/page-{name}.md#ways",
        "claims": {"speed": [plan.id for plan in plans]},
    }
    write(root / f"checks/methods/ways-{name}.yml", yaml.safe_dump(method))
    write(root / f"checks/facts/sheet-{name}.yml", _SHEET.format(name=name))
    snippet = SNIPPET.replace("Cleverness is on.", f"Cleverness is on in {name}.")
    write(root / f"snippets/scale/clever_{name}.py", snippet)
    record = a_run_record(snippet, snippet=f"scale/clever_{name}")
    write(root / run_path(f"scale/clever_{name}", "cpu"), record)
    write(root / plans[0].page_file, _PAGE.format(name=name, rows="\n".join(rows)))
    return f"page-{name}.md"


def _claim(root: Path, plan: Plan, syntax: str) -> str:
    """Write one claim with its sessions, and return the line of the page that links it."""
    sweep = f"sweep: {{axis: batch_size, unit: sequences, grid: {list(GRID)}}}"
    scope = sweep if len(plan.sizes) > 1 else "at: {batch_size: 8}"
    write(root / plan.claim_file, _CLAIM.format(plan=plan, scope=scope))
    for date in DATES[-plan.sessions :]:
        text, seconds = _session(plan, date, syntax)
        path = f"checks/evidence/ways_{plan.group}/h200-{date}-{sha256(text)[:12]}.json"
        write(root / path, text)
    figure = f"[{1000 * seconds:.2f} ms](claim:{plan.id}#baseline@h200,batch_size=8)"
    return f"- Way {plan.number} takes [less time](claim:{plan.id}) than plain, which takes {figure}."


def _session(plan: Plan, date: str, syntax: str) -> tuple[str, float]:
    """Return an evidence file in the form of ``headroom measure``, and the baseline's typical time at size 8."""
    rng = random.Random(f"{plan.number} {date}")  # noqa: S311 - noise, not a secret
    seed = rng.getrandbits(31)
    head: dict[str, Any] = {
        "benchmark": f"ways_{plan.group}",
        "benchmark_syntax_sha256": syntax,
        "harness": "0.1.0",
        "date": date,
        "hardware_class": "h200",
        "environment": _ENVIRONMENT,
        "design": {
            "blocks": BLOCKS,
            "order_seed": seed,
            "warmup_steps": 1,
            "timed_steps": 3,
            "timer": "time.perf_counter",
            "synchronised": True,
            "process": "its own",
        },
        "units": {"step_time": "s"},
        "failures": [],
    }
    plain: list[float] = []
    rows = ",\n".join(_runs(plan, seed, rng, plain))
    return f'{json.dumps(head, indent=1)[:-2]},\n "runs": [\n{rows}\n ]\n}}\n', median(plain)


def _runs(plan: Plan, seed: int, rng: random.Random, plain: list[float]) -> Iterator[str]:
    """Return the lines of a session's runs; the times of the baseline at size 8 are added to ``plain``."""
    arms = (("plain", False), ("plain", True), (plan.arm, False))
    slots = [Slot(arm, control, (("batch_size", size),)) for size in plan.sizes for arm, control in arms]
    clock = 0.0
    for block in range(BLOCKS):
        for position, slot in enumerate(block_order(slots, seed, block)):
            ((_, size),) = slot.point
            typical = 0.01 * int(size) ** 0.5 / (1.5 if slot.arm != "plain" else 1)
            # One control in a hundred would fail by chance; one that is now slower and now faster never does.
            typical *= (1.01 if block % 2 else 0.99) if slot.control else 1
            times = [typical * math.exp(rng.gauss(0, 0.002)) for _ in range(3)]
            if slot.arm == "plain" and not slot.control and size == 8:
                plain.append(median(times))
            started, clock = clock + 0.001, clock + 1 + rng.random()
            yield (
                f'  {{"block": {block}, "position": {position}, "arm": "{slot.arm}", '
                f'"control": {"true" if slot.control else "false"}, "point": {{"batch_size": {size}}}, '
                f'"input_seed": {1000 + block}, "started": {started!r}, "ended": {clock!r}, '
                f'"samples": {{"step_time": {times}}}, "output": 9.812633514404297, '
                f'"work_sha256": "{_WORK[slot.arm != "plain"]}", "flops": 1000000.0, "throttled": []}}'
            )


_WORK = (sha256("plain"), sha256("clever"))
_CLAIM = """id: {plan.id}
kind: measured
statement: With way {plan.number} a step takes less time than a plain one.
method: ways-{plan.group}
guide: scale/page-{plan.group}.md
benchmark: ways_{plan.group}
subject: {plan.arm}
baseline: plain
metric: {{name: step_time}}
min_effect: 0.02
blocks: 20
tolerance: 0.0001
scope:
  fixed: {{model: made up, tokens: 256, dtype: fp32, dropout: 0, attention: sdpa}}
  {scope}
  hardware: [h200]
not_claimed:
  - That it takes less memory, which depends on the optimizer and was not measured.
"""
_SHEET = """id: sheet-{name}
title: A data sheet
sources:
  here: {{title: A sheet, url: "https://example.org/x", locator: page 1, retrieved: "2026-11-01"}}
figures:
  memory: {{value: 141, unit: GB, source: here}}
"""
_PAGE = """---
title: Ways {name}
hardware: [h200]
---

# Page {name}

## Ways

An H200 has [141 GB](fact:sheet-{name}.memory) of memory.

```python
--8<-- "snippets/scale/clever_{name}.py:enable"
```

{rows}
"""

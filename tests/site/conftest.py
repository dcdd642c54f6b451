"""A small tree with synthetic evidence: a claim per status, two snippets, a fact and a guide that uses them."""

import json
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from headroom.io.python_source import syntax_sha256
from headroom.io.safe_read import sha256
from headroom.records import Evidence, paths
from headroom.records.evidence import Slot, block_order
from headroom.site.site_data import SiteData

ROOT = Path(__file__).parents[2]
GRID = [1, 8, 64]
HOSTILE = "<script>alert(1)</script> [x](javascript:alert(2)) | `tick` {{ braces }} *star* lowers memory"

BENCHMARK = '''"""Two arms."""

ARMS = ("plain", "clever", "twin")


def prepare(arm):
    """A step."""
    return lambda: 1.0
'''
SNIPPET = '''# /// script
# requires-python = ">=3.11"
# dependencies = ["torch"]
#
# [tool.headroom]
# NEEDS
# models = ["openai-community/gpt2"]
# no_ablation = "a test tree"
# ///
"""TITLE."""

# --8<-- [start:enable]
model = "openai-community/gpt2"
# --8<-- [end:enable]
assert model
'''
CPU = {"device": "cpu", "product": "Made-up Xeon", "power_limit_w": None, "instruction_sets": ["avx512_bf16"]}
GPU = {"device": "cuda", "product": "NVIDIA H200", "power_limit_w": 700.0, "instruction_sets": []}
MACHINES = {"cpu": CPU, "h200": GPU}
CLASSES = {
    "cpu": {
        "name": "an x86 server CPU",
        "device": "cpu",
        "match": {"instruction_sets": ["avx512_bf16"], "threads": 1},
        "peak_flops": 1e12,
        "peak_flops_source": "made up",
    },
    "h200": {
        "name": "an H200",
        "device": "cuda",
        "match": {"product": "NVIDIA H200", "power_limit_w": 700},
        "peak_flops": 1e15,
        "peak_flops_source": "made up",
    },
}

Values = Callable[[str, Mapping[str, Any]], float]


def session(
    name: str, hardware: str, metric: tuple[str, str], values: Values, *, day: str = "2026-11-20", seed: int = 7
) -> Evidence:
    """Return a session of twenty blocks; `values(arm, point)` gives the values."""
    rng = random.Random(seed)  # noqa: S311 - noise, not a secret
    points = [{"batch_size": value} for value in GRID] if name == "swept" else [{}]
    arms = [("plain", False), ("plain", True), ("clever", False)]
    slots = [Slot(arm, control, tuple(point.items())) for point in points for arm, control in arms]
    runs, clock = [], 0.0
    for block in range(20):
        for position, slot in enumerate(block_order(slots, 3, block)):
            point = dict(slot.point)
            noise = 1.0 if metric[1] == "B" else 1 + rng.uniform(-0.02, 0.02)
            runs.append(
                {
                    "block": block,
                    "position": position,
                    "arm": slot.arm,
                    "control": slot.control,
                    "point": point,
                    "input_seed": block,
                    "started": clock,
                    "ended": clock + 1,
                    "samples": {metric[0]: [values(slot.arm, point) * noise]},
                    "output": 2.5,
                    "work_sha256": sha256(slot.arm),
                    "flops": 1e6,
                    "throttled": [],
                }
            )
            clock += 2
    return Evidence.model_validate(
        {
            "benchmark": name,
            "benchmark_syntax_sha256": syntax_sha256(BENCHMARK),
            "harness": "test",
            "date": day,
            "hardware_class": hardware,
            "environment": {
                **MACHINES[hardware],
                "memory_bytes": 2**37,
                "cores": 8,
                "threads": 1,
                "driver": None,
                "system": "Linux 6.1 x86_64",
                "virtualised": True,
                "governor": None,
                "load_before": 0.1,
                "versions": {"python": "3.11.7", "torch": "2.13.0"},
                "unknown": ["clock", "temperature"],
            },
            "design": {
                "blocks": 20,
                "order_seed": 3,
                "warmup_steps": 1,
                "timed_steps": 1,
                "timer": "perf_counter",
                "synchronised": True,
                "process": "nothing but imported libraries",
            },
            "units": {metric[0]: metric[1]},
            "runs": runs,
            "failures": [],
        }
    )


def claim(claim_id: str, **changes: Any) -> dict[str, Any]:
    """Return a measured claim of the benchmark `fixed`, with these fields changed."""
    return {
        "id": claim_id,
        "kind": "measured",
        "statement": "The clever arm keeps less memory for backward than the plain one",
        "method": "cleverness",
        "guide": "training/guide.md",
        "not_claimed": ["that it is faster"],
        "benchmark": "fixed",
        "subject": "clever",
        "baseline": "plain",
        "metric": {"name": "saved_for_backward", "carries_over": True},
        "tolerance": 0.01,
        "scope": {"fixed": {"model": "gpt2", "dtype": "fp32"}, "hardware": ["cpu", "h200"]},
        **changes,
    }


TIME = {"name": "step_time"}
SWEPT = {
    "fixed": {"model": "gpt2"},
    "sweep": {"axis": "batch_size", "unit": "sequences", "grid": GRID},
    "hardware": ["cpu"],
}
CITED = {
    "id": "training.cited",
    "kind": "cited",
    "statement": "Somebody saw clever run twice as fast",
    "method": "cleverness",
    "guide": "training/guide.md",
    "not_claimed": ["that we saw it"],
    "source": {
        "title": "On cleverness",
        "authors": "A. Author",
        "year": 2024,
        "type": "paper",
        "url": "https://example.org/clever",
        "locator": "Table 2",
        "retrieved": "2026-11-01",
    },
    "quote": "clever ran 2.0x faster on 8 A100",
    "figures": [{"name": "speed", "value": 2.0, "unit": "×", "as_printed": "2.0x"}],
    "hardware_as_stated": "8 A100",
    "independence": "author",
}
CLAIMS = [
    claim("training.memory"),
    claim("training.time", metric=TIME, statement="Clever is faster", benchmark="timed"),
    claim("training.slower", metric=TIME, statement="Clever is faster on paper", benchmark="backwards"),
    claim("training.noisy", metric=TIME, statement="Clever is much faster", benchmark="timed", min_effect=0.25),
    claim("training.disputed", metric=TIME, statement="Clever is faster here", benchmark="argued"),
    claim("training.sweep", scope=SWEPT, statement="Clever keeps less at every size", benchmark="swept"),
    claim(
        "training.part",
        scope={**SWEPT, "holds_for": "batch_size >= 8"},
        statement="Clever keeps less from 8 on",
        benchmark="swept",
    ),
    claim("training.unmeasured", benchmark="never", statement="Clever is good"),
    claim("training.hostile", statement=HOSTILE),
    CITED,
]


def _fixed(arm: str, _: Mapping[str, Any]) -> float:
    return 3.2 * 2**30 if arm == "plain" else 1.1 * 2**30


def _timed(arm: str, _: Mapping[str, Any]) -> float:
    return 0.100 if arm == "plain" else 0.080


def _reversed(arm: str, _: Mapping[str, Any]) -> float:
    return 0.080 if arm == "plain" else 0.100


def _swept(arm: str, point: Mapping[str, Any]) -> float:
    size = float(point["batch_size"])
    return 2**20 * size * (1.0 if arm == "plain" else 1.5 / size**0.4)


SESSIONS = [
    session("fixed", "cpu", ("saved_for_backward", "B"), _fixed),
    session("timed", "cpu", ("step_time", "s"), _timed),
    session("backwards", "cpu", ("step_time", "s"), _reversed),
    session("argued", "cpu", ("step_time", "s"), _timed, day="2026-11-19"),
    session("argued", "cpu", ("step_time", "s"), _reversed),
    session("swept", "cpu", ("saved_for_backward", "B"), _swept),
]
GUIDE = """---
hardware: [cpu]
description: A guide
---
# A guide

Clever [keeps less](claim:training.memory), [is faster](claim:training.time) and
[at 64 much less](claim:training.sweep#ratio@cpu,batch_size=64). The H200 has [141](fact:h200.memory) GB.
Not so: [faster on paper](claim:training.slower "contradicted"), [how much](claim:training.noisy "inconclusive"),
[who knows](claim:training.disputed "disputed"), [it depends](claim:training.sweep "flips"),
[nobody measured](claim:training.unmeasured "unmeasured"), [they say](claim:training.cited).

| hardware | kept | time | swept | cited |
|---|---|---|---|---|
| CPU | [](claim:training.memory) | [](claim:training.time) | [](claim:training.part) | [](claim:training.cited) |

```python
--8<-- "snippets/training/clever.py:enable"
```

=== "Trainer"

    ```python
    --8<-- "snippets/training/clever.py:enable"
    ```

!!! note

    ```python
    --8<-- "snippets/training/on_gpu.py"
    ```
"""
INDEX = """---
description: The start
---
# Headroom

See [the guide](training/guide.md) and [all claims](claims/index.md).
"""


def write(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def make(root: Path) -> Path:
    """Write the whole tree."""
    write(root / "checks/facts/hardware-classes.yml", yaml.safe_dump(CLASSES))
    source = {
        "title": "H200 & data sheet",
        "url": "https://example.org/h200",
        "locator": "page 1",
        "retrieved": "2026-11-01",
    }
    cell = {"value": 141, "unit": "GB", "source": "sheet"}
    sheet = {"id": "h200", "title": "H200", "sources": {"sheet": source}, "figures": {"memory": cell}}
    write(root / "checks/facts/h200.yml", yaml.safe_dump(sheet))
    for name in ("fixed", "timed", "backwards", "argued", "swept", "never"):
        write(root / f"checks/benchmarks/{name}.py", BENCHMARK)
    for record in CLAIMS:
        name = str(record["id"]).replace(".", "/", 1).replace(".", "-")
        write(root / f"checks/registry/{name}.yml", yaml.safe_dump(record))
    for evidence in SESSIONS:
        text = paths.evidence_text(evidence)
        write(root / paths.evidence_path(evidence, text), text)
    clever = SNIPPET.replace("# NEEDS", "#").replace("TITLE", "Clever")
    write(root / "snippets/training/clever.py", clever)
    write(
        root / "snippets/training/on_gpu.py", SNIPPET.replace("NEEDS", 'needs = ["cuda"]').replace("TITLE", "On a GPU")
    )
    record_run(root, clever)
    write(root / "docs/index.md", INDEX)
    write(root / "docs/training/guide.md", GUIDE)
    shutil.copytree(ROOT / "docs/assets", root / "docs/assets")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[0]
    write(root / "mkdocs.yml", config + "\nnav: [index.md, training/guide.md, claims/index.md]\n")
    return root


def record_run(root: Path, source: str) -> None:
    """Return a record of a CPU run of the snippet `training/clever` with this source."""
    run = {
        "snippet": "training/clever",
        "sha256": sha256(source),
        "hardware_class": "cpu",
        "date": "2026-11-21",
        "outcome": "passed",
        "seconds": 1.0,
        "peak_memory_bytes": 2**28,
        "device": "cpu",
        "versions": {"torch": "2.13.0"},
        "models": {"openai-community/gpt2": "stand-in"},
        "warnings": [],
        "ablation": None,
    }
    write(root / "checks/runs/training/clever/cpu.json", json.dumps(run))


@pytest.fixture(scope="session")
def site_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the tree on disk; tests must not change it."""
    return make(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="session")
def site(site_root: Path) -> SiteData:
    """Return the tree with its verdicts."""
    data = SiteData.load(site_root)
    assert not data.tree.problems
    return data


@pytest.fixture
def own_root(site_root: Path, tmp_path: Path) -> Path:
    """Return a copy of the tree that a test may change."""
    return Path(shutil.copytree(site_root, tmp_path / "tree"))

"""Build synthetic trees: claims, sessions of a made-up benchmark, and their files."""

import json
import math
import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from headroom import records
from headroom.environment import MachineState
from headroom.io.python_source import syntax_sha256
from headroom.io.safe_read import sha256
from headroom.records import Evidence, MeasuredClaim, Point, Tree, paths
from headroom.records.evidence import Slot, block_order
from headroom.records.metrics import METRICS
from headroom.verdicts import SessionVerdict, Standing, judge_all

ID = "training.clever"
BENCHMARK = '''"""Two arms."""

ARMS = ("plain", "clever")


def prepare(arm):
    """A step."""
    return lambda: 1.0  # of any arm
'''
SNIPPET = '''# /// script
# requires-python = ">=3.11"
# dependencies = ["torch"]
#
# [tool.headroom]
# ablation = { "clever = True" = "clever = False" }
# ///
"""Cleverness is on."""

# --8<-- [start:enable]
clever = True
# --8<-- [end:enable]
assert clever
'''
MACHINE = MachineState(
    device="cpu",
    product="Made-up Xeon",
    memory_bytes=2**37,
    cores=8,
    threads=1,
    instruction_sets=("avx2", "avx512_bf16"),
    power_limit_w=None,
    driver=None,
    system="Linux 6.1 x86_64",
    virtualised=True,
    governor=None,
    load_before=0.1,
    versions={"python": "3.11.7", "torch": "2.13.0"},
    unknown=("clock", "temperature"),
)
H200 = {"device": "cuda", "product": "NVIDIA H200", "power_limit_w": 700.0, "instruction_sets": []}
CLASSES: dict[str, Any] = {
    "cpu": {
        "name": "a CPU, one thread",
        "device": "cpu",
        "match": {"instruction_sets": ["avx512_bf16"], "without": ["amx_bf16"], "threads": 1},
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
METHOD: dict[str, Any] = {
    "id": "cleverness",
    "name": "Cleverness",
    "symptoms": ["too slow"],
    "section": "training/guide.md#cleverness",
    "claims": {"speed": [ID]},
}
CITED: dict[str, Any] = {
    "id": "training.cited",
    "kind": "cited",
    "statement": "Somebody saw clever run twice as fast.",
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


def a_claim(claim_id: str = ID, **changes: Any) -> MeasuredClaim:
    """Return a claim that the clever arm is faster than the plain one, with these fields changed."""
    fields: dict[str, Any] = {
        "id": claim_id,
        "kind": "measured",
        "statement": "A clever step takes less time than a plain one.",
        "method": "cleverness",
        "guide": "training/guide.md",
        "not_claimed": ["that it takes less memory"],
        "benchmark": "made_up",
        "subject": "clever",
        "baseline": "plain",
        "metric": {"name": "step_time"},
        "tolerance": 0.01,
        "scope": {"fixed": {"model": "made up"}, "hardware": ["cpu"]},
    }
    return MeasuredClaim.model_validate({**fields, **changes})


def a_sweep(*grid: float, **changes: Any) -> dict[str, Any]:
    """Return a scope that sweeps the batch size over a grid."""
    sweep = {"axis": "batch_size", "unit": "sequences", "grid": list(grid)}
    return {"fixed": {"model": "made up"}, "sweep": sweep, "hardware": ["cpu"], **changes}


def a_session(
    claim: MeasuredClaim,
    ratio: float | Callable[[Point], float] = 1.5,
    *,
    blocks: int = 20,
    noise: float = 0.02,
    seed: int = 7,
    controls: tuple[str, ...] = ("plain",),
    order: Callable[[Iterable[Slot], int, int], list[Slot]] = block_order,
    syntax: str = BENCHMARK,
    **changes: Any,
) -> Evidence:
    """Return a valid session in which the subject improves on the baseline by ``ratio``, with these fields changed.

    Args:
        claim: whose arms are measured at its points in its metric.
        ratio: the improvement, or what gives it for a point.
        blocks: how many.
        noise: standard deviation of the logarithm of a sample.
        seed: of the noise.
        controls: the arms that are run a second time in each block.
        order: orders the slots of a block.
        syntax: the source of the benchmark that is said to have run.
        changes: fields of the evidence.
    """
    rng = random.Random(seed)  # noqa: S311 - noise, not a secret
    name = claim.metric.name
    kind = METRICS[name]
    scale = {"s": 0.1, "B": 2.0**30, "tokens/s": 1e4}[kind.unit]
    arms = [(claim.baseline, False), (claim.subject, False), *((arm, True) for arm in controls)]
    slots = [Slot(arm, again, tuple(sorted(at.items()))) for at in claim.scope.points for arm, again in arms]
    runs: list[dict[str, Any]] = []
    for block in range(blocks):
        for position, slot in enumerate(order(slots, 3, block)):
            at = dict(slot.point)
            gain = 1.0 if slot.arm == claim.baseline else ratio(at) if callable(ratio) else ratio
            value = scale * (gain if kind.better == "higher" else 1 / gain)
            samples = [value * math.exp(rng.gauss(0, 0.0 if kind.exact else noise)) for _ in range(1)]
            runs.append(
                {
                    "block": block,
                    "position": position,
                    "arm": slot.arm,
                    "control": slot.control,
                    "point": at,
                    "input_seed": 1000 + block,
                    "started": 2.0 * len(runs),
                    "ended": 2.0 * len(runs) + 1,
                    "samples": {name: samples},
                    "output": 2.5,
                    "work_sha256": sha256(slot.arm),
                    "flops": 1e6,
                    "throttled": [],
                }
            )
    fields: dict[str, Any] = {
        "benchmark": claim.benchmark,
        "benchmark_syntax_sha256": syntax_sha256(syntax),
        "harness": "0.1.0",
        "date": "2026-11-20",
        "hardware_class": "cpu",
        "environment": {name: getattr(MACHINE, name) for name in MachineState.__slots__},
        "design": {
            "blocks": blocks,
            "order_seed": 3,
            "warmup_steps": 1,
            "timed_steps": 1,
            "timer": "time.perf_counter",
            "synchronised": True,
            "process": "nothing but imported libraries",
        },
        "units": {name: kind.unit},
        "runs": runs,
        "failures": [],
    }
    return Evidence.model_validate({**fields, **changes})


def edited(evidence: Evidence, edit: Callable[[dict[str, Any]], None]) -> Evidence:
    """Return a session after an edit of its fields."""
    data = evidence.model_dump(mode="json")
    edit(data)
    return Evidence.model_validate(data)


def write(path: Path, text: str) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def keep(root: Path, evidence: Evidence) -> Path:
    """Write a session to its path in the tree."""
    text = paths.evidence_text(evidence)
    return write(root / paths.evidence_path(evidence, text), text)


def write_tree(
    root: Path,
    claims: Iterable[MeasuredClaim] = (),
    sessions: Iterable[Evidence] = (),
    *,
    benchmarks: Mapping[str, str] | None = None,
) -> Path:
    """Write a tree of valid files, and return its root."""
    claims = list(claims)
    sources = benchmarks if benchmarks is not None else {claim.benchmark: BENCHMARK for claim in claims}
    for name, source in sources.items():
        write(root / f"checks/benchmarks/{name}.py", source)
    for claim in claims:
        fields = claim.model_dump(mode="json", exclude_defaults=True)
        write(root / paths.claim_path(claim.id), yaml.safe_dump(fields, allow_unicode=True, sort_keys=False))
    for evidence in sessions:
        keep(root, evidence)
    write(root / "checks/facts/hardware-classes.yml", yaml.safe_dump(CLASSES))
    write(root / "checks/methods/cleverness.yml", yaml.safe_dump(METHOD))
    return root


def a_run_record(source: str = SNIPPET, **changes: Any) -> str:
    """Return the record of a run of the snippet ``training/clever`` on a CPU, with these fields changed."""
    fields = {
        "snippet": "training/clever",
        "sha256": sha256(source),
        "hardware_class": "cpu",
        "date": "2026-11-21",
        "outcome": "passed",
        "seconds": 1.0,
        "peak_memory_bytes": 2**28,
        "device": "cpu",
        "versions": {"torch": "2.13.0"},
        "models": {},
        "warnings": [],
        "ablation": {"outcome": "proof failed", "message": "assert clever", "seconds": 1.0},
    }
    return json.dumps({**fields, **changes})


def load_clean(root: Path) -> Tree:
    """Load a tree, and assert that it has no problem."""
    tree = records.load(root)
    assert tree.problems == ()
    return tree


def standing(root: Path, claim: MeasuredClaim, hardware: str = "cpu") -> Standing:
    """Return the standing of a claim in a tree, from its files."""
    return judge_all(load_clean(root)).of(claim, hardware)


def verdict(root: Path, claim: MeasuredClaim, evidence: Evidence) -> SessionVerdict:
    """Return the verdict on a claim with one session, through files, loading and judging."""
    found = standing(write_tree(root, [claim], [evidence]), claim).verdict
    assert found is not None
    return found

"""Generate the evidence, run records and machine records of clean/, and of extra/ for the cases that add some.

Run it after a change of the benchmark or of a snippet of clean/: `python tests/rule_cases/make.py`. It is seeded, so
it writes the same bytes every time. `headroom check --fix --root tests/rule_cases/clean` then updates the figures.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headroom.io.atomic_write import write_atomic
from headroom.io.python_source import syntax_sha256
from headroom.io.safe_read import sha256
from headroom.records.evidence import Design, Environment, Evidence, Failure, Run, Slot, block_order
from headroom.records.machines import Machine, Measurement
from headroom.records.metrics import METRICS
from headroom.records.paths import evidence_path, evidence_text, machine_path, record_text, run_path
from headroom.records.snippets import content_sha256

HERE = Path(__file__).parent
BENCHMARK = "small_step"
SNIPPET = "training/clever"
BLOCKS = 10
MIB = 2.0**20
# Seconds of a step by arm and batch size, and the relative noise of a run.
SECONDS = {("plain", 1): 0.010, ("plain", 8): 0.080, ("clever", 1): 0.011, ("clever", 8): 0.056}
NOISE = 0.003
# What the snippet printed: its results, and the rows of the pictures `step` and `traces`.
OUTPUT = """9 + 9 is 18
calls: [3]
plain: 0 forward 1 0 0 2 0 0
plain: 5 backward 1 0 1 4 2 0.5
plain: 6 update 1 2 1 0 0 0
loader kernels: 2 4
loader kernels: 6 8"""


@dataclass(frozen=True, slots=True)
class Plan:
    """One session."""

    hardware_class: str
    date: str
    environment: Mapping[str, Any]
    points: Mapping[str, tuple[int, ...]]
    """The batch sizes of each arm."""
    metrics: tuple[str, ...]
    moody: float = 1.0
    """The speedup of the moody arm over the plain one."""
    mishap: bool = False
    """Whether to add a block in which the device is throttled and only the plain arm has a result."""


GPU = {"device": "cuda", "product": "NVIDIA H200", "instruction_sets": (), "power_limit_w": 700.0, "driver": "580.1"}
CPU = {
    "device": "cpu",
    "product": "Made-up CPU",
    "instruction_sets": ("avx512_bf16",),
    "power_limit_w": None,
    "driver": None,
}
TIMES = ("step_time", "throughput")
SWEPT = {"plain": (1, 8), "clever": (1, 8)}
PLANS = (
    Plan("h200", "2026-11-20", GPU, {**SWEPT, "twin": (8,), "noisy": (8,), "moody": (8,)}, TIMES, moody=1.3),
    Plan("h200", "2026-11-21", GPU, {"plain": (8,), "moody": (8,)}, ("step_time",), moody=0.8, mishap=True),
    Plan("cpu", "2026-11-20", CPU, SWEPT, ("step_time", "saved_for_backward")),
)


def files() -> Iterator[tuple[str, str]]:
    """Yield the path below this folder and the text of every generated file."""
    for plan in PLANS:
        evidence = _session(plan)
        text = evidence_text(evidence)
        yield f"clean/{evidence_path(evidence, text)}", text
    yield f"clean/{run_path(SNIPPET, 'cpu')}", _record(SNIPPET, "cpu", _snippet_sha256())
    yield f"extra/{run_path('training/gone', 'cpu')}", _record("training/gone", "cpu", "0" * 64)
    yield f"extra/{run_path(SNIPPET, 'h300')}", _record(SNIPPET, "h300", _snippet_sha256())
    yield _machine("clean", "h200")
    yield _machine("extra", "h300")
    yield _machine("extra", "cpu")
    unknown = _session(Plan("h300", "2026-11-20", GPU, {"idle": (8,)}, ("step_time",)), blocks=1)
    text = evidence_text(unknown)
    yield f"extra/{evidence_path(unknown, text)}", text
    future = _session(Plan("h200", "2931-01-01", GPU, {"idle": (8,)}, ("step_time",)), blocks=1)
    text = evidence_text(future)
    yield f"extra/{evidence_path(future, text)}", text


def _machine(folder: str, hardware_class: str) -> tuple[str, str]:
    """Return the path and text of a machine record of a made-up GPU."""
    machine = Machine(
        harness="made-up",
        date="2026-11-20",
        hardware_class=hardware_class,
        environment=_environment(PLANS[0]),
        others_cpu=0.02,
        throttled=("made-up heat",),
        products={"bf16": Measurement(of="made-up matrices", samples=(0.9e12, 1e12, 0.95e12))},
        bandwidth={"copy": Measurement(of="made-up arrays", samples=(3e9, 3e9, 3e9))},
        launch=Measurement(of="made-up calls", samples=(4e-6, 5e-6, 6e-6)),
        not_measured={"fp8": "made-up"},
    )
    text = record_text(machine)
    return f"{folder}/{machine_path(hardware_class, machine.date, sha256(text))}", text


def _environment(plan: Plan) -> Environment:
    return Environment(
        **plan.environment,
        memory_bytes=2**36,
        cores=1,
        threads=1,
        system="Linux",
        virtualised=True if plan.mishap else None,
        governor="performance" if plan.mishap else None,
        load_before=0.5 if plan.mishap else 0.0,
        versions={"torch": "2.13.0"},
        unknown=() if plan.mishap else ("virtualised", "governor"),
    )


def _session(plan: Plan, blocks: int = BLOCKS) -> Evidence:
    seed = 7
    slots = [
        Slot(arm, control, (("batch_size", size),))
        for arm, sizes in plan.points.items()
        for size in sizes
        for control in ((False, True) if arm == "plain" else (False,))
    ]
    noise = random.Random(f"{plan.hardware_class} {plan.date}")  # noqa: S311 - noise, not a secret
    blocks += plan.mishap
    order = [(block, i, slot) for block in range(blocks) for i, slot in enumerate(block_order(slots, seed, block))]
    last = blocks - 1 if plan.mishap else None
    failed = [place for place in order if place[0] == last and (place[2].arm == "moody" or place[2].control)]
    return Evidence(
        benchmark=BENCHMARK,
        benchmark_syntax_sha256=syntax_sha256((HERE / f"clean/checks/benchmarks/{BENCHMARK}.py").read_text("utf-8")),
        harness="made-up",
        date=plan.date,
        **({"time": "12:00:00"} if plan.mishap else {}),
        hardware_class=plan.hardware_class,
        environment=_environment(plan),
        design=Design(
            blocks=blocks,
            order_seed=seed,
            warmup_steps=1,
            timed_steps=1,
            timer="made-up",
            synchronised=True,
            process="its own",
        ),
        units={name: METRICS[name].unit for name in plan.metrics},
        runs=tuple(
            _run(plan, number, *place, noise, hot=place[0] == last)
            for number, place in enumerate(order)
            if place not in failed
        ),
        failures=tuple(_failure(*place) for place in failed),
    )


def _failure(block: int, position: int, slot: Slot) -> Failure:
    return Failure(
        block=block,
        position=position,
        arm=slot.arm,
        control=slot.control,
        point=dict(slot.point),
        reason="made-up",
    )


def _run(plan: Plan, number: int, block: int, position: int, slot: Slot, noise: random.Random, *, hot: bool) -> Run:
    size = int(dict(slot.point)["batch_size"])
    slow = 10 if plan.hardware_class == "cpu" else 1
    speed = {"moody": plan.moody}.get(slot.arm, 1.0)
    spread = 0.3 if slot.arm == "noisy" else NOISE
    typical = SECONDS.get((slot.arm, size), SECONDS["plain", size]) * slow / speed
    seconds = round(typical * (1 + spread * noise.uniform(-1, 1)), 9)
    values = {
        "step_time": seconds,
        "throughput": round(256 * size / seconds, 3),
        "saved_for_backward": (100 if slot.arm == "clever" else 400) * MIB * size / 8,
    }
    return Run(
        block=block,
        position=position,
        arm=slot.arm,
        control=slot.control,
        point=dict(slot.point),
        input_seed=block,
        started=float(number),
        ended=number + 0.5,
        samples={name: (values[name],) for name in plan.metrics},
        output=1.0,
        work_sha256=content_sha256(slot.arm),
        flops=1e9,
        throttled=("made-up heat",) if hot else (),
        **({"others_cpu": 0.02, "benchmark_seconds": 0.4} if plan.mishap else {}),
    )


def _snippet_sha256() -> str:
    return content_sha256((HERE / f"clean/snippets/{SNIPPET}.py").read_text("utf-8"))


def _record(snippet: str, hardware_class: str, sha256: str) -> str:
    record = {
        "snippet": snippet,
        "sha256": sha256,
        "hardware_class": hardware_class,
        "date": "2026-11-20",
        "outcome": "passed",
        "seconds": 0.5,
        "peak_memory_bytes": 2**24,
        "device": "made-up",
        "environment": "made-up",
        "versions": {"torch": "2.13.0"},
        "models": {"openai-community/gpt2": "stand-in"},
        "warnings": ["a made-up warning"],
        "ablation": {"outcome": "proof failed", "message": "AssertionError", "seconds": 0.5},
        "output": OUTPUT,
        "runner": hashlib.sha256(b"a runner").hexdigest(),
    }
    return json.dumps(record, indent=1) + "\n"


def main() -> None:
    """Write every file, and delete JSON files that are no longer generated."""
    made = dict(files())
    for path in HERE.rglob("*.json"):
        if path.relative_to(HERE).as_posix() not in made and path.parent.name != "coefficients":  # those are traced
            path.unlink()
    for name, text in made.items():
        write_atomic(HERE / name, text)


if __name__ == "__main__":
    main()

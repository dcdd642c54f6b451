"""The roofline: sessions faster than any equal machine has been are refused."""

from pathlib import Path
from typing import Any

import pytest

from factories import CLASSES, H200, MACHINE, a_claim, edited, write, write_tree
from headroom.io.safe_read import sha256
from headroom.records import HardwareClass, load
from headroom.records.evidence import Environment
from headroom.records.machines import Machine
from headroom.records.paths import machine_path, record_text
from headroom.verdicts import judge_all
from headroom.verdicts.roofline import SLACK, bounded
from test_sessions import one, session

CLAIM = a_claim()
CPU = HardwareClass.model_validate(CLASSES["cpu"])  # 1e12 FLOP/s
ENVIRONMENT = {name: getattr(MACHINE, name) for name in type(MACHINE).__slots__}


def a_machine(*, rates: dict[str, float] | None = None, **changes: Any) -> Machine:
    """Return the made-up machine with these best rates by number format, in FLOP/s."""
    products = {
        name: {"of": "matrices", "samples": [0.7 * best, best, 0.9 * best]}
        for name, best in (rates or {"fp32": 1e11, "bf16": 4e11}).items()
    }
    fields: dict[str, Any] = {
        "harness": "0.1.0",
        "date": "2026-11-20",
        "hardware_class": "cpu",
        "environment": ENVIRONMENT,
        "others_cpu": 0.0,
        "throttled": [],
        "products": products,
        "bandwidth": {"copy": {"of": "arrays", "samples": [1e10] * 3}},
        "launch": {"of": "calls", "samples": [1e-6] * 3},
        "not_measured": {"tf32": "a format of CUDA devices"},
    }
    return Machine.model_validate({**fields, **changes})


def keep(root: Path, machine: Machine) -> str:
    """Write a machine's record to the tree, and return its path."""
    text = record_text(machine)
    path = machine_path(machine.hardware_class, machine.date, sha256(text))
    write(root / path, text)
    return path


def bound(*machines: Machine, **changes: Any) -> HardwareClass:
    """Return the class bounded for a machine like the made-up one, with these fields changed."""
    found = Environment.model_validate({**ENVIRONMENT, **changes})
    return bounded(CPU, {f"m{i}": machine for i, machine in enumerate(machines)}, found)


def test_the_best_rate_of_any_format_bounds_the_class() -> None:
    """The number format of a step is unknown, and another machine may have a higher clock."""
    found = bound(a_machine(), a_machine(rates={"int8": 3e11}))
    assert found.peak_flops == SLACK * 4e11
    assert found.peak_flops_source == "1.25 times the best bf16 matmul rate measured on such a machine, m0"


def test_a_slower_record_does_not_lower_the_bound() -> None:
    assert bound(a_machine(), a_machine(rates={"bf16": 5e11})).peak_flops == SLACK * 5e11
    assert bound(a_machine(rates={"bf16": 5e11}), a_machine()).peak_flops == SLACK * 5e11


def test_the_peak_of_the_class_stays_a_bound() -> None:
    assert bound(a_machine(rates={"bf16": 0.8e12})) is CPU
    assert bound(a_machine(rates={"bf16": 0.79e12})).peak_flops == SLACK * 0.79e12
    assert bound() is CPU


@pytest.mark.parametrize("change", [{"product": "Other"}, {"threads": 2}, {"instruction_sets": ["avx512_bf16"]}, H200])
def test_a_record_of_another_machine_does_not_bound(change: dict[str, Any]) -> None:
    assert bound(a_machine(), **change) is CPU
    assert bound(a_machine(environment={**ENVIRONMENT, **change})) is CPU


@pytest.mark.parametrize(
    ("change", "bounds"),
    [
        ({"throttled": ["hw_slowdown"]}, False),
        ({"others_cpu": 0.89}, False),
        ({"others_cpu": 0.88}, True),
        ({"others_cpu": None}, True),
        ({"others_cpu": 0.09, "environment": {**ENVIRONMENT, "cores": 1}}, True),
        ({"others_cpu": 0.11, "environment": {**ENVIRONMENT, "cores": 1}}, False),
    ],
)
def test_a_throttled_or_busy_machine_does_not_bound(change: dict[str, Any], bounds: bool) -> None:  # noqa: FBT001
    assert (bound(a_machine(**change)) is not CPU) == bounds


def test_a_session_above_the_roofline_is_refused(tmp_path: Path) -> None:
    """Its rate is below the peak of its class, and above that of equal machines."""
    fast = session(one("flops", 0.6e12 * 0.06))  # a step takes 0.06 s and more
    root = write_tree(tmp_path, [CLAIM], [fast])
    assert judge_all(load(root)).of(CLAIM, "cpu").reason == "clear"
    keep(root, a_machine(rates={"bf16": 4e11}))
    assert judge_all(load(root)).of(CLAIM, "cpu").reason == "faster_than_hardware"
    keep(root, a_machine(rates={"bf16": 6e11}))
    assert judge_all(load(root)).of(CLAIM, "cpu").reason == "clear"


def test_each_product_of_a_class_has_its_own_bound(tmp_path: Path) -> None:
    fast = session(one("flops", 0.6e12 * 0.06))
    other = edited(fast, lambda data: data["environment"].update(product="Other"))
    root = write_tree(tmp_path, [CLAIM], [fast, edited(other, lambda data: data.update(date="2026-11-21"))])
    assert judge_all(load(root)).of(CLAIM, "cpu").reason == "clear"
    keep(root, a_machine(environment={**ENVIRONMENT, "product": "Other"}))
    found = judge_all(load(root)).of(CLAIM, "cpu")
    assert (found.reason, [verdict.reason for _, verdict in found.others]) == ("faster_than_hardware", ["clear"])

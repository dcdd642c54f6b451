"""The rule `accelerators` finds wrong figures that are planted in the project's own records."""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from headroom.records.accelerators import FOLDER, Accelerator
from headroom.rules.accelerators import CHECKS

ROOT: Final = Path(__file__).parents[1]
PLANTED: Final = {
    "accumulation-and-sparsity": ("rtx-5090", {"peaks.bf16.value": 838}),
    "memory-of-a-superchip": ("gb200", {"memory.value": 372}),
    "memory-of-one-device": ("mi250x", {"memory.value": 64}),
    "bandwidth-of-a-superchip": ("gb200", {"bandwidth.value": 16000}),
    "bandwidth-doubled": ("l40s", {"bandwidth.value": 1728}),
    "bandwidth-halved": ("v100-16gb", {"bandwidth.value": 450}),
    "bandwidth-of-the-other-card": ("h100-pcie", {"bandwidth.value": 3350}),
    "fp16-accumulation": ("rtx-3090", {"peaks.bf16.value": 142, "peaks.int8.value": 568}),
    "all-rates-with-sparsity": (
        "h200-sxm",
        {f"peaks.{name}.value": value for name, value in {"tf32": 989, "bf16": 1979, "fp16": 1979, "fp8": 3958}.items()}
        | {"peaks.int8.value": 3958},
    ),
    "wrong-number-of-links": ("mi325x", {"link.links": 8}),
    "int8-doubled": ("rtx-4080", {"peaks.int8.value": 779.8}),
    "memory-of-the-predecessor": ("mi355x", {"memory.value": 256}),
    "memory-in-another-unit": ("t4", {"memory.unit": "GiB"}),
    "rates-of-two-chips": ("tpu-v4", {"peaks.bf16.value": 550, "peaks.int8.value": 550}),
}
"""The accelerator, and its wrong figures."""


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    """Return the accelerators as their files have them."""
    files = [yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / FOLDER).glob("*.yml")]
    return {name: each for file in files for name, each in file["accelerators"].items()}


def found(record: dict[str, Any]) -> list[str]:
    """Return the checks that find a contradiction which the record does not except."""
    accelerator = Accelerator.model_validate(record)
    return [name for name, find in CHECKS.items() if list(find(accelerator)) and name not in accelerator.exceptions]


@pytest.mark.parametrize("case", PLANTED)
def test_a_planted_figure_is_found(case: str, recorded: dict[str, Any]) -> None:
    """The record has no contradiction before."""
    name, wrong = PLANTED[case]
    record = yaml.safe_load(yaml.safe_dump(recorded[name]))
    assert not found(record)
    for place, value in wrong.items():
        *keys, last = place.split(".")
        cell = record
        for key in keys:
            cell = cell[key]
        assert last in cell
        cell[last] = value
    assert found(record)

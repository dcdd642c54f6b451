"""Recorded shapes, cards and coefficient files work with the estimator."""

from pathlib import Path
from typing import Any

import pytest

from headroom.memory.architecture import read_architecture
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import Estimate, estimate, estimate_architecture
from headroom.memory.job import ADAPTERS, Job
from headroom.memory.polynomials import value
from headroom.memory.resident import Resident
from headroom.memory.sizes import card_bytes
from headroom.records.model_shapes import FOLDER, read_shape

ROOT = Path(__file__).parents[2]
RECORDED = sorted(path.stem for path in (ROOT / "checks/coefficients").glob("*.json"))
SHAPES = sorted(path.stem for path in (ROOT / FOLDER).glob("*.yml"))


def _estimated(name: str) -> Estimate | None:
    """Return the estimate of a recorded shape in the first precision that its family has; None without a family."""
    for precision in ("bf16", "fp32"):
        try:
            return estimate(name, root=ROOT, precision=precision)
        except EstimateError as error:
            if error.field == "model_type":
                return None
    return None


@pytest.mark.parametrize("name", SHAPES)
def test_parameters_of_a_traced_family_are_the_published_ones(name: str) -> None:
    shape = read_shape(name, ROOT)
    found = _estimated(name)
    if shape.config["model_type"] not in RECORDED:
        assert found is None
    elif found:
        assert shape.parameters.agrees(found.parameters)


@pytest.mark.parametrize("family", RECORDED)
def test_trained_tensors_are_those_that_the_tracer_saw(family: str) -> None:
    """Of every traced job: the same number of trained elements per kind of layer."""
    shape = next(each for each in SHAPES if read_shape(each, ROOT).config["model_type"] == family)
    architecture = read_architecture(shape, ROOT)
    for name, variant in architecture.coefficients.variants.items():
        job, _, targets = name.split()[2].partition("-")
        if variant.trainable and "tied" not in name and "ungrouped" not in name:
            chosen = Job(job=job, targets=targets or "all") if job in ADAPTERS else Job(job=job)
            symbols = architecture.with_derived({**architecture.symbols, "B": 1, "S": 1, "C": 1, "K": 1, "r": 16})
            resident = Resident(architecture, chosen, symbols, architecture.kinds, first=True, last=True)
            for kind, trained in resident.trained.items():
                if not (kind == "outside" and architecture.tied):
                    counted = sum(each.elements for each in trained)
                    assert counted == value(variant.trainable.get(kind, {}), symbols), (name, kind)


@pytest.mark.parametrize("family", RECORDED)
def test_every_traced_job_can_be_estimated(family: str) -> None:
    shape = next(each for each in SHAPES if read_shape(each, ROOT).config["model_type"] == family)
    architecture = read_architecture(shape, ROOT)
    for name, variant in architecture.coefficients.variants.items():
        if not variant.refused and not name.endswith("tied"):
            precision, attention, job = name.split()[:3]
            kind, _, targets = job.partition("-")
            chosen = Job(
                job=kind,
                targets=targets or "all",
                precision=precision,
                attention=attention,
                checkpointing=name.endswith(" checkpointed"),
                length=512,
            )
            assert estimate_architecture(architecture, chosen, ROOT).peak > 0, name


TRACED_STEPS = [
    ("llama-3.1-8b", {"optimizer": "adamw_torch"}, 74.79),
    ("llama-3.1-8b", {"batch": 4, "length": 4096}, 166.93),
    ("llama-3.1-8b", {"batch": 4, "length": 4096, "precision": "autocast", "checkpointing": True}, 132.17),
    ("llama-3.1-8b", {"batch": 4, "length": 4096, "checkpointing": True, "loss": "chunked"}, 62.75),
    ("llama-3.2-3b", {"batch": 4, "length": 768, "job": "lora-qv", "rank": 32, "optimizer": "adamw_torch"}, 19.71),
    ("qwen3-8b", {"batch": 2, "length": 4096}, 119.08),
    ("llama-3-70b", {"length": 8192, "checkpointing": True}, 526.72),
]


@pytest.mark.parametrize(("name", "options", "traced"), TRACED_STEPS)
def test_peak_is_that_of_a_step_traced_at_full_size(name: str, options: dict[str, Any], traced: float) -> None:
    """In GiB, printed to two decimals: torch 2.13 and transformers 5.23, second step."""
    if read_shape(name, ROOT).config["model_type"] in RECORDED:
        assert estimate(name, root=ROOT, **options).peak / 2**30 == pytest.approx(traced, abs=0.01)


def test_a_hub_name_finds_the_shape(root: Path) -> None:
    assert "model_type" in read_shape("meta-llama/Llama-3.1-8B", ROOT).config
    with pytest.raises(EstimateError, match=r"^model: no shape is recorded for `meta-lama/Llama-3.1-8B`; did you mean"):
        estimate("meta-lama/Llama-3.1-8B", root=ROOT)
    with pytest.raises(EstimateError, match=r"^model: no shape"):
        estimate("meta-llama/Llama-3.1-8B", root=root)


@pytest.mark.parametrize(
    ("name", "least", "most"), [("4090", 23, 24), ("NVIDIA GeForce RTX 4090", 23, 24), ("h200", 137, 141)]
)
def test_a_card_is_found_by_its_name(name: str, least: float, most: float) -> None:
    assert least < card_bytes(name, ROOT) / 2**30 < most


@pytest.mark.parametrize(("name", "size"), [("RTX 4090", "24GB"), ("A100 80GB", "80GB"), ("RTX 5090", "32GB")])
def test_a_card_and_its_printed_size_are_the_same_memory(name: str, size: str) -> None:
    """What nvidia-smi shows is more than PyTorch can use, so neither figure is that total."""
    usable, printed = (card_bytes(each, ROOT) / 2**30 for each in (name, size))
    assert usable == pytest.approx(printed, rel=0.01)
    assert usable < float(size.removesuffix("GB"))


def test_an_unknown_card_names_the_nearest() -> None:
    with pytest.raises(EstimateError, match=r"card is `RTX 4091`; give a size .*, or a card: .*rtx"):
        card_bytes("RTX 4091", ROOT)

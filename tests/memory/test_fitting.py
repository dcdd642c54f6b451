"""Verdicts on cards, largest batches and lengths, and changes that lower the peak."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from headroom.memory import fitting
from headroom.memory.architecture import read_architecture
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import estimate
from headroom.memory.fitting import DOES_NOT_FIT, FITS, WITHIN_ERROR, Fitting, verdict
from headroom.memory.fixed_costs import beside_tensors, fixed_costs
from headroom.memory.job import Job
from headroom.memory.layouts import Layout
from headroom.memory.sizes import card_bytes
from llama_coefficients import LLAMA_1B, LLAMA_8B

ROOT = Path(__file__).parents[2]
GIB = 2**30
JOBS = st.builds(
    Job,
    job=st.sampled_from(["full", "lora", "qlora", "prefill", "decode"]),
    optimizer=st.sampled_from(["adamw_torch", "adamw_torch_fused", "sgd"]),
    batch=st.integers(1, 8),
    checkpointing=st.just(value=False),
)


def _fitting(root: Path, config: dict[str, Any], job: Job, card: float) -> Fitting:
    return Fitting(read_architecture(config, root), job, int(card * GIB), root)


@pytest.mark.parametrize(
    ("needed", "words"),
    [((10, 20), FITS), ((10, 21), WITHIN_ERROR), ((20, 30), WITHIN_ERROR), ((21, 30), DOES_NOT_FIT)],
)
def test_a_job_fits_if_the_upper_end_fits(needed: tuple[int, int], words: str) -> None:
    assert verdict(needed, 20) == words


@pytest.mark.parametrize("field", ["batch", "length"])
def test_the_largest_value_fits_and_the_next_does_not(root: Path, field: str) -> None:
    asked = _fitting(root, LLAMA_1B, Job(length=512), 40)
    largest = asked.largest_batch() if field == "batch" else asked.largest_length()
    assert largest > 1
    assert verdict(asked.estimate(**{field: largest}).needed, asked.card) == FITS
    assert verdict(asked.estimate(**{field: largest + 1}).needed, asked.card) != FITS


def test_no_batch_fits_where_the_weights_do_not(root: Path) -> None:
    assert _fitting(root, LLAMA_8B, Job(), 8).largest_batch() == 0


def test_lengths_under_context_parallelism_are_divisible(root: Path) -> None:
    asked = _fitting(root, LLAMA_1B, Job(layout=Layout(context=8)), 40)
    assert asked.largest_length() % 8 == 0


@given(job=JOBS)
def test_every_change_lowers_the_peak(root: Path, job: Job) -> None:
    asked = _fitting(root, LLAMA_1B, job, 24)
    before = asked.estimate().peak
    for change in asked.changes():
        assert change.saved > 0
        assert asked.estimate(**change.options).peak == before - change.saved


def test_checkpointing_is_not_named_where_the_optimizer_step_is_the_peak(root: Path) -> None:
    """The control: with a longer sequence, the same job has its peak in the backward pass, and it is named."""
    short, long = (Job(optimizer="adamw_torch", length=length) for length in (64, 8192))
    names = [[each.name for each in _fitting(root, LLAMA_8B, job, 80).changes()] for job in (short, long)]
    assert "activation checkpointing" not in names[0]
    assert "fused optimizer" in names[0]
    assert "activation checkpointing" in names[1]


def test_a_combination_fits_and_each_change_of_it_lowers_the_peak(root: Path) -> None:
    asked = _fitting(root, LLAMA_8B, Job(batch=4, optimizer="adamw_torch"), 23.6)
    made = asked.combination()
    assert made
    assert all(each.saved > 0 for each in made)
    assert verdict(made[-1].needed, asked.card) == FITS
    assert all(verdict(each.needed, asked.card) != FITS for each in made[:-1])


def test_there_is_no_combination_for_a_card_that_is_too_small(root: Path) -> None:
    assert _fitting(root, LLAMA_8B, Job(), 1).combination() is None


def test_a_smaller_cache_makes_a_long_conversation_fit(root: Path) -> None:
    """Llama 3.1 8B with 131,072 tokens: 16.0 GiB of cache in bf16, a quarter of it with 4 bits, and the scales."""
    asked = _fitting(root, LLAMA_8B, Job(job="decode", length=131_072), 23.6)
    assert [each.name for each in asked.combination() or ()] == ["int4 KV cache"]
    saved = {each.name: each.saved / GIB for each in asked.changes()}
    assert 7 < saved["int8 KV cache"] < 8
    assert 11 < saved["int4 KV cache"] < 12


def test_fewer_sequences_are_tried_before_a_smaller_cache(root: Path) -> None:
    asked = _fitting(root, LLAMA_8B, Job(job="decode", batch=2, length=32_768), 23.6)
    assert [each.name for each in asked.combination() or ()] == ["half the sequences at once"]


def test_weights_of_inference_are_quantized_as_little_as_suffices(root: Path) -> None:
    """15.0 GiB of bf16 weights: 8 bits fit in 12 GB, 4 bits in 8 GB; AWQ's 4 bits save nothing over NF4's."""
    asked = _fitting(root, LLAMA_8B, Job(job="decode", length=2_048), 11.6)
    assert [each.name for each in asked.combination() or ()] == ["8-bit weights (LLM.int8)"]
    asked = _fitting(root, LLAMA_8B, Job(job="decode", length=2_048), 7.8)
    assert [each.name for each in asked.combination() or ()] == ["4-bit weights (NF4)"]
    assert "4-bit weights (NF4)" not in {each.name for each in _fitting(root, LLAMA_8B, Job(job="lora"), 8).changes()}
    mixture = _fitting(ROOT, "mixtral-8x7b", Job(job="decode", length=2_048), 44)
    assert [each.name for each in mixture.combination() or ()] == ["4-bit checkpoint (AWQ, GPTQ)"]


def test_nothing_needs_to_change_where_the_job_fits(root: Path) -> None:
    assert _fitting(root, LLAMA_1B, Job(batch=1, length=64), 80).combination() == []


@pytest.mark.parametrize("candidate", fitting._CANDIDATES, ids=lambda each: each.method)
def test_methods_and_claims_of_changes_exist(candidate: fitting._Candidate) -> None:
    method = yaml.safe_load((ROOT / "checks/methods" / f"{candidate.method}.yml").read_text("utf-8"))
    claims = [claim for each in method["claims"].values() for claim in each]
    for claim in candidate.claims:
        assert (ROOT / f"checks/registry/{claim.replace('.', '/', 1).replace('.', '-')}.yml").is_file()
    assert not candidate.claims or {*candidate.claims} & {*claims, *method.get("costs", [])}


@pytest.mark.parametrize(("text", "gib"), [("24GB", 23.64), ("80 gb", 78.8), ("23.5GiB", 23.5), ("512 MiB", 0.5)])
def test_a_vendors_gigabytes_are_what_pytorch_can_use_of_them(root: Path, text: str, gib: float) -> None:
    assert card_bytes(text, root) / GIB == pytest.approx(gib, rel=1e-4)


@pytest.mark.parametrize("text", ["", "24", "GB", "-24GB", "0GB", "24PB", "1e9GB", "24GB24GB", "٢٤GB"])
def test_what_is_no_size_of_a_card_is_refused(root: Path, text: str) -> None:
    with pytest.raises(EstimateError, match=r"card is `.*`; give a size such as 24GB"):
        card_bytes(text, root)


def test_fixed_costs_are_an_interval_with_sources(root: Path) -> None:
    """Nine in ten out-of-memory errors do not exceed the upper end."""
    one, many = (fixed_costs(10 * GIB, Layout(strategy="ddp", data=count), root) for count in (1, 8))
    known = beside_tensors(1, root)
    assert sum(each <= known.share for each in known.unallocated) == round(0.9 * len(known.unallocated))
    assert min(known.unallocated) < 0.01 < known.share < max(known.unallocated)
    assert one.low == known.context[0] + 8_519_680
    assert one.high == known.context[1] + 32 * 2**20 + int(10 * GIB * known.share)
    assert many.high > one.high
    assert any("23 out-of-memory errors on one GPU" in note for note in one.notes)


def test_an_error_states_what_is_reserved_or_what_of_it_is_not_allocated(root: Path) -> None:
    """OPT 1.3B on a 15 GB card: 13.30 GiB allocated, 13.65 GiB reserved; an L40S: 79.61 MiB of it not allocated."""
    shares = beside_tensors(1, root).unallocated
    assert any(each == pytest.approx(13.65 / 13.30 - 1) for each in shares)
    assert any(each == pytest.approx(79.61 / 1024 / 43.89) for each in shares)


def test_missing_facts_are_reported(tmp_path: Path) -> None:
    with pytest.raises(EstimateError, match=r"out-of-memory\.yml"):
        fixed_costs(GIB, Layout(), tmp_path)


def test_a_damaged_sheet_of_facts_is_reported(tmp_path: Path) -> None:
    place = tmp_path / "checks" / "facts" / "out-of-memory.yml"
    place.parent.mkdir(parents=True)
    place.write_text("figures: 7\n", "utf-8")
    with pytest.raises(EstimateError, match="is not a sheet of facts"):
        fixed_costs(GIB, Layout(), tmp_path)


def test_more_gpus_lower_the_peak_of_the_same_job(root: Path) -> None:
    peaks = [estimate(LLAMA_8B, root=root, strategy="fsdp", data=count).peak for count in (1, 2, 8, 64)]
    assert peaks == sorted(peaks, reverse=True)

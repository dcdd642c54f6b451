"""Published rows become jobs of the calculators, and their errors are signed."""

from pathlib import Path

import pytest

from headroom.memory.calculators import CALCULATORS
from headroom.memory.validation import (
    OURS,
    ModelSize,
    ValidationRow,
    calculator_job,
    compare_calculators,
    summaries,
    usable_rows,
)
from headroom.records import load

ROOT = Path(__file__).parents[2]
TABLES = load(ROOT).published.memory
MISTRAL = ModelSize(
    {
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14_336,
        "vocab_size": 32_000,
    },
    7_241_732_096,
)


def rows() -> dict[str, ValidationRow]:
    """Return the usable rows of Mistral 7B by id."""
    found = usable_rows(TABLES.values(), {"mistral-7b-v0.1": MISTRAL}.get)
    return {row.row.id: row for row in found}


def test_rows_without_a_size_or_not_usable_are_left_out() -> None:
    """Of all tables, only rows of the one model remain."""
    assert {row.row.model for row in rows().values()} == {"mistral-7b-v0.1"}
    assert {row.table for row in rows().values()} == {"fms-acceleration"}
    assert all(row.row.usable for row in rows().values())
    assert list(usable_rows(TABLES.values(), lambda _: None)) == []


def test_full_fine_tuning_in_bf16_peaks_at_ten_bytes_per_parameter() -> None:
    """Weights, gradients, two states and the copy of foreach AdamW: the figure was transcribed without an error."""
    row = rows()["mistral-7b-v0-1-full-1-gpu-batch-4"]
    assert row.measured.counts == "allocated"
    assert row.measured.bytes / MISTRAL.parameters == pytest.approx(10, rel=0.001)


def test_errors_are_signed_and_ours_are_first() -> None:
    """A prediction of half the bytes is 50 % too low."""
    row = rows()["mistral-7b-v0-1-full-1-gpu-batch-4"]
    errors = compare_calculators([row], lambda each: each.measured.bytes / 2)
    assert [error.calculator for error in errors] == [OURS, *CALCULATORS]
    assert errors[0].percent == pytest.approx(-50)
    by_name = {error.calculator: error.percent for error in errors}
    assert by_name["20-bytes"] == pytest.approx(100, abs=0.1)
    assert by_name["weights-times-1.2"] is None


def test_summary_counts_only_jobs_that_a_calculator_models() -> None:
    """LoRA is in the runs, and no formula models it."""
    pair = [rows()[f"mistral-7b-v0-1-{kind}-1-gpu-batch-4"] for kind in ("full", "lora")]
    by_name = {each.calculator: each for each in summaries(compare_calculators(pair, lambda _: 1e10))}
    assert (by_name[OURS].modelled, by_name[OURS].runs) == (2, 2)
    assert by_name["accelerate"].modelled == 1
    assert by_name["accelerate"].median_percent == pytest.approx(20, abs=0.1)
    assert by_name["weights-times-1.2"].median_percent is None


def test_job_has_the_layout_and_the_quantization_of_the_row() -> None:
    """FSDP shards as ZeRO 3 does."""
    job = calculator_job(rows()["mistral-7b-v0-1-bnb-2-gpu-batch-2"])
    assert job is not None
    assert (job.kind, job.weights, job.ranks, job.zero_stage) == ("qlora", "nf4", 2, 3)
    assert (job.batch, job.length, job.checkpointing, job.optimizer) == (2, 4096, True, "adamw")


def test_configuration_without_a_size_is_refused() -> None:
    """The error names what is missing."""
    row = rows()["mistral-7b-v0-1-full-1-gpu-batch-4"]
    config = {name: value for name, value in MISTRAL.config.items() if name != "num_hidden_layers"}
    with pytest.raises(ValueError, match="no layers; add one of num_hidden_layers"):
        calculator_job(ValidationRow(row.table, row.row, row.conditions, ModelSize(config, MISTRAL.parameters)))


class TestTables:
    """The published tables of this project."""

    def test_figures_come_from_at_least_six_repositories(self) -> None:
        """Each with a licence that permits copies."""
        assert len({table.source.repository for table in TABLES.values()}) >= 6
        assert {table.source.licence for table in TABLES.values()} <= {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause"}

    def test_process_memory_exceeds_allocated_memory(self) -> None:
        """Where a run has both: the device's used memory includes everything that PyTorch allocated."""
        both = [row.measured for table in TABLES.values() for row in table.rows if len(row.measured) > 1]
        assert len(both) > 100
        low = [pair for pair in both if pair[1].bytes < pair[0].bytes]
        assert len(low) == 0

    def test_usable_rows_name_every_condition(self) -> None:
        """And some rows do not, with a reason."""
        usable = [table.job(row).missing() for table in TABLES.values() for row in table.rows if row.usable]
        assert set(usable) == {()}
        assert any(table.job(row).missing() for table in TABLES.values() for row in table.rows if row.reason)

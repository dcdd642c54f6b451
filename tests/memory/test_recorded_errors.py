"""The recorded errors of memory estimates: published rows as jobs, known errors, tables and drift."""

from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from headroom.memory.error_samples import (
    calculator_errors,
    comparisons,
    error_of,
    judged_steps_of,
    measured_steps_of,
    published_steps_of,
    strips,
    traced_steps_of,
)
from headroom.memory.errors import EstimateError
from headroom.memory.fitting import DOES_NOT_FIT, FITS, verdict
from headroom.memory.job import Job
from headroom.memory.known_errors import in_words, known_error, percent
from headroom.memory.layouts import Layout
from headroom.memory.loss import loss_memory
from headroom.memory.percentiles import percentile
from headroom.memory.published_jobs import options_of
from headroom.memory.recorded_errors import sized
from headroom.memory.validation import OURS
from headroom.records import load
from headroom.records.memory_coefficients import HeadMemory
from headroom.records.memory_rows import MemoryJob, MemoryLayout
from headroom.rules.memory_errors import _fault
from headroom.site.memory_error_tables import _TABLES, SCHEME, _near, with_tables
from headroom.site.site_data import SiteData

ROOT = Path(__file__).parents[2]
TREE = load(ROOT)
LORA = MemoryJob(
    kind="lora",
    precision="bf16-autocast",
    optimizer="adamw-torch",
    batch=2,
    length=4096,
    accumulation=1,
    checkpointing="full",
    loss="whole-upcast-copy",
    adapter_rank=16,
    adapter_targets=("q_proj", "v_proj", "k_proj", "o_proj", "c_attn"),
    layout=MemoryLayout(data=2, sharding="fsdp"),
)


def test_conditions_become_the_options_of_an_estimate() -> None:
    """A layer that the model does not have is left out of the targets."""
    options = options_of(LORA)
    assert options["precision"] == "mixed"
    assert options["targets"] == "attention"
    assert (options["strategy"], options["data"], options["checkpointing"]) == ("fsdp", 2, True)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"optimizer": "lomo"}, "optimizer is"),
        ({"precision": "float8"}, "precision is float8"),
        ({"adapter_targets": ("up_proj",)}, "targets is up_proj"),
    ],
)
def test_a_job_that_the_estimator_does_not_have_is_refused(change: dict[str, object], fault: str) -> None:
    with pytest.raises(EstimateError, match=fault):
        options_of(LORA.model_copy(update=change))


@pytest.mark.parametrize(("older", "more"), [("whole-upcast-copy", 4), ("whole-shift-copy", 2)])
def test_a_loss_that_copies_the_logits_needs_more_bytes_per_logit(older: str, more: int) -> None:
    """In the forward pass alone; candidates without logits stay."""
    head = HeadMemory(forward=({"B*S*V": 10}, {"B*S*h": 90}), backward=({"B*S*V": 12},))
    symbols = {"B": 2, "S": 3, "V": 100, "h": 1}
    plain, copied = (loss_memory(head, None, symbols, Job(loss=loss)) for loss in ("whole", older))
    assert copied.forward - plain.forward == more * 2 * 3 * 100
    assert copied.backward == plain.backward


def test_percentile_is_one_of_the_numbers() -> None:
    assert percentile(range(1, 101), 0.95) == 95
    assert percentile([3.0], 0.95) == 3.0


class TestRecords:
    """The recorded errors of this project."""

    def test_every_usable_row_has_an_estimate(self) -> None:
        usable = list(sized(TREE.published.memory.values(), TREE.shapes))
        assert {(each.table, each.row) for each in published_steps_of(TREE)} == {
            (each.table, each.row.id) for each in usable if each.row.measured
        }
        assert {(each.table, each.row) for each in judged_steps_of(TREE)} == {
            (each.table, each.row.id) for each in usable if each.card
        }

    def test_near_the_cards_memory_no_verdict_is_wrong_for_certain(self) -> None:
        """No job that ran out of memory fits, and at most a tenth of those that ran do not."""
        near = list(_near(TREE))
        counts = Counter((each.outcome, verdict((each.low, each.high), card)) for each, card in near)
        ran = sum(count for (outcome, _), count in counts.items() if outcome == "ran")
        assert min(ran, len(near) - ran) >= 5
        assert counts["out-of-memory", FITS] == 0
        assert counts["ran", DOES_NOT_FIT] <= ran / 10
        assert counts["ran", FITS] > 0 < counts["out-of-memory", DOES_NOT_FIT]

    def test_the_median_over_the_sources_is_at_most_six_percent(self) -> None:
        by_source: dict[str, list[float]] = {}
        for each in published_steps_of(TREE):
            by_source.setdefault(each.table, []).append(abs(error_of(each)))
        assert len(by_source) >= 3
        assert median(map(median, by_source.values())) <= 6

    def test_rows_beyond_fifteen_percent_are_explained_and_no_other_ones(self) -> None:
        words = {(name, row.id): row.deviation for name, t in TREE.published.memory.items() for row in t.rows}
        for each in published_steps_of(TREE):
            assert (abs(error_of(each)) > 15) is (words[each.table, each.row] is not None), each.row

    def test_every_estimate_is_within_a_tenth_of_the_published_peak(self) -> None:
        """As the page about the errors says."""
        assert max(abs(error_of(each)) for each in published_steps_of(TREE)) < 10

    def test_a_trace_agrees_with_measured_steps(self) -> None:
        found = [each for each in measured_steps_of(TREE) if each.device == "cpu"]
        assert len(found) >= 12
        assert all(abs(percent(each.traced, each.measured)) < 1 for each in found)

    def test_our_errors_stand_next_to_those_of_calculators(self) -> None:
        names = {each.calculator for each in calculator_errors(TREE)}
        assert names > {OURS, "accelerate", "cookbook"}
        assert dict(strips(TREE, "calculators")).keys() > {"Headroom"}

    def test_each_comparison_has_all_of_its_figures_in_its_picture(self) -> None:
        """Published rows twice: by source and by kind of job."""
        found = comparisons(TREE)
        assert set(found) == {"published", "traced", "measured"}
        rows = {name: dict(strips(TREE, name)) for name in found}
        assert sum(map(len, rows["published"].values())) == 2 * len(found["published"])
        assert rows["traced"]["peak"] == found["traced"]
        assert sorted(each for errors in rows["measured"].values() for each in errors) == sorted(found["measured"])
        assert {"weights and adapters", "forward pass", "backward pass", "optimizer step"} < set(rows["traced"])

    def test_known_error_is_that_of_the_kind_of_job(self) -> None:
        lora, dora = known_error(Job(job="lora"), ROOT), known_error(Job(job="dora"), ROOT)
        assert lora is not None
        errors = [error_of(each) for each in published_steps_of(TREE) if each.kind == "lora" and each.gpus == 1]
        assert (lora.comparison, lora.count) == ("published", len(errors))
        assert lora.median == median(map(abs, errors))
        assert lora.largest in errors
        assert abs(lora.largest) == max(map(abs, errors)) >= lora.high >= lora.median
        assert in_words(lora).startswith("±")
        assert float(in_words(lora)[1:].split()[0]) >= abs(lora.largest)
        assert f"{len(errors)} published rows" in in_words(lora)
        assert dora is None
        assert in_words(dora).startswith("unknown, because no published row")

    def test_known_error_on_several_gpus_is_that_of_fsdp_alone(self) -> None:
        others = [
            Layout(tensor=2),
            Layout(strategy="fsdp", data=4, expert=2),
            Layout(strategy="fsdp", data=2, context=2),
        ]
        layouts = (Layout(strategy="fsdp", data=4), *others)
        sharded, *combined = (known_error(Job(job="lora", layout=each), ROOT) for each in layouts)
        assert sharded is not None
        assert sharded.count == sum(each.kind == "lora" and each.gpus > 1 for each in published_steps_of(TREE))
        assert combined == [None] * len(others)

    def test_known_error_without_a_published_row_is_that_of_traced_steps(self, tmp_path: Path) -> None:
        file = tmp_path / "checks/memory-errors/traced.json"
        file.parent.mkdir(parents=True)
        file.write_bytes((ROOT / "checks/memory-errors/traced.json").read_bytes())
        found = known_error(Job(), tmp_path)
        assert found is not None
        assert found.count == sum(step.job.get("job", "full") == "full" for step in traced_steps_of(TREE))
        assert in_words(found).startswith("not compared with a GPU; ±")
        assert f" % against {found.count} traced steps of this kind (median 0.1 %, " in in_words(found)


def test_every_table_has_rows_and_an_unknown_one_is_refused() -> None:
    site = SiteData.load(ROOT)
    for name in _TABLES:
        lines = with_tables([f"[]({SCHEME}{name})"], site)
        assert lines == ["None."] or len(lines) > 2
        assert len({line.count(" | ") for place, line in enumerate(lines) if place != 1}) == 1
    assert with_tables(["text"], site) == ["text"]
    with pytest.raises(LookupError, match="there is no table `memory-errors:nothing`"):
        with_tables([f"[]({SCHEME}nothing)"], site)


def test_a_recorded_estimate_that_is_different_today_is_reported() -> None:
    """And a right one is not."""
    record = TREE.memory_errors["traced"]
    step = next(each for each in record.traced if each.estimated)
    assert _fault(step, ROOT) is None
    wrong = step.model_copy(update={"estimated": {**step.estimated, "peak": 1}})
    assert "the estimate of peak is different today" in str(_fault(wrong, ROOT))
    gone = step.model_copy(update={"model": "no-such-model"})
    assert "no shape is recorded" in str(_fault(gone, ROOT))
    assert _fault(step.model_copy(update={"traced": {}, "refused": "why"}), ROOT) is None

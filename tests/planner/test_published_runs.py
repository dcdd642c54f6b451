"""The published runs: what the project's records say, the fit, the baseline, pairs and intervals."""

from dataclasses import replace
from math import log
from pathlib import Path
from statistics import median

import pytest

from headroom.memory.errors import EstimateError
from headroom.planner.errors import (
    held,
    interval_of,
    is_experts,
    percent,
    run_errors,
    run_pairs,
    threshold_between,
    threshold_of,
)
from headroom.planner.fitting import BOUNDS, fit
from headroom.planner.published_runs import Run
from headroom.planner.recorded import read_constants, read_published

ROOT = Path(__file__).parents[2]
CONSTANTS = read_constants(ROOT)
RUNS = read_published(ROOT)
DENSE = [run for run in RUNS if not is_experts(run)]
UNFITTED = [run for run in DENSE if run.row.use != "fitted"]


def test_there_are_enough_runs_of_each_use() -> None:
    assert len({run.table.id for run in RUNS}) >= 15
    assert len(UNFITTED) >= 100
    assert sum(run.row.use == "blind" for run in DENSE) >= 20
    assert {run.row.gpus for run in RUNS} >= {1, 2, 8, 64, 512, 1024}


def test_blind_tables_have_no_other_runs() -> None:
    """A source that was added after the fit has no run that was fitted or seen."""
    for table in {run.table.id for run in RUNS if run.row.use == "blind"}:
        assert {run.row.use for run in RUNS if run.table.id == table} == {"blind"}


def test_the_recorded_constants_are_those_of_the_fit() -> None:
    found = fit([run for run in RUNS if run.row.use == "fitted"], CONSTANTS.link)
    for name in BOUNDS:
        assert getattr(found, name) == pytest.approx(getattr(CONSTANTS, name), rel=0.002, abs=1e-4), found


def test_the_recorded_constants_are_a_minimum() -> None:
    """A small step of any constant makes the fitted runs' errors larger; so the fit is not a boundary of the search."""
    fitted = [run for run in RUNS if run.row.use == "fitted"]

    def loss(changes: dict[str, float]) -> float:
        constants = replace(CONSTANTS, **changes)
        return sum(abs(log(1 + percent(run, constants) / 100)) ** 1.5 for run in fitted)

    for name, (low, high) in BOUNDS.items():
        for factor in (0.9, 1.1):
            moved = min(high, max(low, getattr(CONSTANTS, name) * factor))
            if moved != getattr(CONSTANTS, name):
                assert loss({name: moved}) > loss({})


def middle(errors: list[float]) -> float:
    return median(map(abs, errors))


def test_the_model_beats_equal_utilization_on_runs_that_were_not_fitted() -> None:
    """The comparison of issue 20: seen and blind runs apart, and on one GPU."""
    errors = run_errors(RUNS, CONSTANTS)
    for use in ("seen", "blind"):
        kind = [each for each in errors if each.run.row.use == use and not is_experts(each.run)]
        model, same, formats = (
            middle([getattr(each, name) for each in kind]) for name in ("model", "baseline", "formats")
        )
        assert model < 0.6 * min(same, formats)


def test_the_baseline_has_one_utilization_for_all_runs() -> None:
    errors = run_errors(RUNS, CONSTANTS)
    assert len({round(each.run.utilization / (1 + each.baseline / 100), 9) for each in errors}) == 1
    assert len({round(each.run.utilization / (1 + each.formats / 100), 9) for each in errors}) == 2


def test_utilization_is_that_which_a_source_prints() -> None:
    """LLM Foundry counts 6 FLOPs per parameter and the whole attention matrix; MFU is 45.71 % there."""
    run = next(each for each in RUNS if each.name == "llm-foundry-h100/mpt-7b-128-gpus-2048")
    assert run.utilization == pytest.approx(0.4571, rel=0.05)


def test_the_order_of_published_pairs_is_right_in_four_fifths() -> None:
    pairs = [pair for pair in run_pairs(RUNS, CONSTANTS) if pair.differs]
    threshold = threshold_of(list(run_pairs(RUNS, CONSTANTS)), experts=False)
    assert threshold is not None
    orders = [pair.order(0) for pair in pairs]
    assert orders.count(True) / len(orders) >= 0.8
    told = [pair.order(threshold) for pair in pairs if not is_experts(pair.first)]
    assert told.count(True) / (told.count(True) + told.count(False)) >= 0.8
    assert told.count(None) > 0


def test_pairs_differ_in_the_layout_and_not_in_model_length_or_format() -> None:
    for pair in run_pairs(RUNS, CONSTANTS):
        first, second = pair.first, pair.second
        assert first.table is second.table
        assert (first.row.model, first.work.length) == (second.row.model, second.work.length)
        assert {first.row.use, second.row.use} != {"fitted"}


def test_an_interval_covers_four_fifths_of_its_own_runs() -> None:
    low, high = interval_of(DENSE, CONSTANTS) or (0, 0)
    inside = [low <= 1 / (1 + percent(run, CONSTANTS) / 100) <= high for run in UNFITTED]
    assert 0.78 <= sum(inside) / len(inside) <= 0.84


def test_the_interval_of_other_sources_holds_on_one_gpu() -> None:
    single = [run for run in UNFITTED if run.row.gpus == 1]
    assert len(single) >= 10
    assert held(DENSE, CONSTANTS, single) / len(single) >= 0.7


def test_too_few_runs_give_no_interval_and_no_threshold() -> None:
    assert interval_of(UNFITTED[:3], CONSTANTS) is None
    assert threshold_of([], experts=True) is None
    assert threshold_between(UNFITTED[:2], CONSTANTS) is None
    assert held(UNFITTED[:3], CONSTANTS, UNFITTED[:3]) == 0


def test_other_parallelisms_have_the_larger_error() -> None:
    same = threshold_of(list(run_pairs(RUNS, CONSTANTS)), experts=False)
    other = threshold_between(DENSE, CONSTANTS)
    assert same is not None
    assert other is not None
    assert other > same


def changed(run: Run, speed: float) -> Run:
    return replace(run, row=run.row.model_copy(update={"tokens_per_second": speed}))


def test_a_slower_run_than_predicted_has_a_negative_error() -> None:
    """The errors are those of step times: the prediction is too short."""
    run = RUNS[0]
    rate = run.predicted(CONSTANTS).rate
    assert percent(changed(run, rate / 2), CONSTANTS) == pytest.approx(-50)
    assert percent(changed(run, rate), CONSTANTS) == pytest.approx(0)


def test_a_folder_without_records_has_no_constants(tmp_path: Path) -> None:
    (tmp_path / "checks" / "facts").mkdir(parents=True)
    with pytest.raises(EstimateError, match=r"step-time-model\.yml"):
        read_constants(tmp_path)

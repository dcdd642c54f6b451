"""How far predicted step times are from published ones: errors, the same-utilization baseline, pairs, intervals."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, floor, log
from statistics import median

from headroom.memory.layouts import Layout
from headroom.planner.published_runs import Run
from headroom.planner.step_time import Constants

COVERED = 0.8
"""The part of the published runs that an interval of step times covers."""
DIFFERENT = 1.05
"""Pairs of published runs whose speeds differ by at least this factor are asked for their order."""
_LEAST_PAIRS, _LEAST_RUNS = 5, 5


@dataclass(frozen=True, slots=True)
class RunError:
    """The signed errors of one run's predicted step time, in percent; negative if the prediction is too short.

    Attributes:
        run: the published run.
        model: the error of the step-time model.
        baseline: the error if every run has the same utilization of its peak.
        formats: the error if every run of one number format has the same utilization.
    """

    run: Run
    model: float
    baseline: float
    formats: float


@dataclass(frozen=True, slots=True)
class RunPair:
    """Two published runs of one model on one kind of cluster that differ in their layout, micro-batch or checkpointing.

    Attributes:
        measured: the logarithm of the ratio of their speeds per GPU.
        predicted: the same, predicted.
    """

    first: Run
    second: Run
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        """Return the absolute error of the ratio's logarithm."""
        return abs(self.predicted - self.measured)

    @property
    def differs(self) -> bool:
        """Return whether the speeds differ by more than 5 %."""
        return abs(self.measured) > log(DIFFERENT)

    def order(self, threshold: float) -> bool | None:
        """Return whether the predicted order is right; None if the difference is at most the threshold."""
        if abs(self.predicted) <= threshold:
            return None
        return self.predicted * self.measured > 0


def run_errors(runs: Sequence[Run], constants: Constants) -> list[RunError]:
    """Return the error of each run. Both baselines are medians over the fitted runs."""
    fitted = [run for run in runs if run.row.use == "fitted"]
    same = median(run.utilization for run in fitted)
    formats = {
        name: median([run.utilization for run in fitted if run.work.precision == name] or [same])
        for name in {run.work.precision for run in runs}
    }
    return [
        RunError(
            run,
            percent(run, constants),
            100 * (run.utilization / same - 1),
            100 * (run.utilization / formats[run.work.precision] - 1),
        )
        for run in runs
    ]


def percent(run: Run, constants: Constants) -> float:
    """Return the signed error of a run's predicted step time in percent."""
    return 100 * (run.row.tokens_per_second / run.predicted(constants).rate - 1)


def is_experts(run: Run) -> bool:
    """Return whether the run's model has experts."""
    return run.decoder.experts > 1


def run_pairs(runs: Iterable[Run], constants: Constants) -> Iterator[RunPair]:
    """Yield the pairs of runs of one source, model, length, format and kernels, of which at most one is fitted."""
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        key = (run.table.id, run.row.model, run.work.length, run.work.precision, run.work.kernels)
        groups.setdefault(key, []).append(run)
    for group in groups.values():
        for first, second in combinations(group, 2):
            if _layout(first) != _layout(second) and {first.row.use, second.row.use} != {"fitted"}:
                measured = log(first.row.tokens_per_second / second.row.tokens_per_second)
                predicted = log(first.predicted(constants).rate / second.predicted(constants).rate)
                yield RunPair(first, second, measured, predicted)


def _layout(run: Run) -> tuple[object, ...]:
    work = run.work
    return run.layout, work.batch, work.recompute, work.interleave, work.tensor_overlap


def threshold_of(pairs: Sequence[RunPair], *, experts: bool) -> float | None:
    """Return the median error of the ratio of two published runs of this kind of model; None if pairs are too few."""
    errors = [pair.error for pair in pairs if is_experts(pair.first) is experts]
    return median(errors) if len(errors) >= _LEAST_PAIRS else None


def division(layout: Layout) -> tuple[int, ...]:
    """Return how a layout divides the model: whether weights are sharded, and the sizes of TP, PP, CP and EP."""
    return int(layout.weight_shards > 1), layout.tensor, layout.pipeline, layout.context, layout.expert


def threshold_between(runs: Iterable[Run], constants: Constants) -> float | None:
    """Return the median difference of the errors of two runs on one kind of GPU that divide the model differently.

    Few sources publish one model with several divisions. So the runs may have other models and sources too, and the
    result is larger than the error of a choice between two layouts of one model. None if pairs are too few.
    """
    unfitted = [run for run in runs if run.row.use != "fitted"]
    logs = {run.name: log(1 + percent(run, constants) / 100) for run in unfitted}
    errors = [
        abs(logs[first.name] - logs[second.name])
        for first, second in combinations(unfitted, 2)
        if first.cluster.accelerator == second.cluster.accelerator and division(first.layout) != division(second.layout)
    ]
    return median(errors) if len(errors) >= _LEAST_PAIRS else None


def interval_of(runs: Sequence[Run], constants: Constants) -> tuple[float, float] | None:
    """Return the factors of a predicted step time that cover four fifths of the runs; None if runs are too few.

    Fitted runs do not count: their errors are smaller.
    """
    ratios = sorted(1 + percent(run, constants) / 100 for run in runs if run.row.use != "fitted")
    if len(ratios) < _LEAST_RUNS:
        return None
    outside = floor((1 - COVERED) / 2 * (len(ratios) - 1))
    return 1 / ratios[-1 - outside], 1 / ratios[outside]


def held(runs: Sequence[Run], constants: Constants, asked: Sequence[Run]) -> int:
    """Return how many of the asked runs are in the interval that the runs of all other sources give."""
    inside = 0
    for table in {run.table.id for run in asked}:
        others = interval_of([run for run in runs if run.table.id != table], constants)
        if others is None:
            continue
        low, high = others
        for run in asked:
            if run.table.id == table:
                inside += low <= 1 / (1 + percent(run, constants) / 100) <= high
    return inside


def in_percent(threshold: float) -> float:
    """Return a difference of logarithms in percent."""
    return 100 * (exp(threshold) - 1)

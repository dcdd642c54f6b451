"""Search the layouts that fit on a cluster, and judge which step times the model's error can tell apart."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from pathlib import Path

from headroom.memory.architecture import Architecture
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import Estimate, estimate_architecture
from headroom.memory.fitting import DOES_NOT_FIT, FITS, verdict
from headroom.memory.job import Job
from headroom.memory.layouts import Layout
from headroom.planner.candidates import Demand, layouts, works
from headroom.planner.card import PlannedCluster
from headroom.planner.errors import division, interval_of, is_experts, run_pairs, threshold_between, threshold_of
from headroom.planner.layout_names import layout_name
from headroom.planner.recorded import read_constants, read_published
from headroom.planner.step_time import Constants, StepTime, Work, step_time


@dataclass(frozen=True, slots=True)
class PlannedLayout:
    """One layout that fits.

    Attributes:
        layout: the layout.
        work: micro-batch, accumulation and checkpointing.
        time: the predicted step time.
        peak: the estimated peak of allocated bytes on the GPU that holds the most.
        needed: the least and the most bytes of a card that the process takes.
        verdict: whether it fits for certain, or within the error of the estimate.
        slower: whether it is slower than the fastest layout by more than the model's error; else nobody can tell.
    """

    layout: Layout
    work: Work
    time: StepTime
    peak: int
    needed: tuple[int, int]
    verdict: str
    slower: bool = False

    @property
    def name(self) -> str:
        """Return the layout in words, such as ``FSDP 8 × TP 8``."""
        return layout_name(self.layout)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How far predicted step times of this kind of model are from published ones.

    Attributes:
        low: the factor from a predicted step time to the low end of its interval.
        high: the factor to its high end.
        same: the logarithm of the ratio of two step times up to which their order is not told, for layouts with the
            same division of the model; None if the published runs are too few to know.
        other: the same for layouts that divide the model differently.
        runs: the published runs behind the interval.
    """

    low: float | None
    high: float | None
    same: float | None
    other: float | None
    runs: int

    def tells(self, first: PlannedLayout, second: PlannedLayout) -> bool:
        """Return whether the difference of two step times is larger than the model's error."""
        alike = division(first.layout) == division(second.layout)
        threshold = self.same if alike else self.other
        return threshold is not None and abs(log(first.time.seconds / second.time.seconds)) > threshold


def ranked(found: Sequence[PlannedLayout], accuracy: Accuracy) -> tuple[PlannedLayout, ...]:
    """Return layouts by their step time, each with whether it is slower than the fastest one by more than the error."""
    ordered = sorted(found, key=lambda each: (each.time.seconds, each.name))
    return tuple(replace(each, slower=accuracy.tells(ordered[0], each)) for each in ordered)


@lru_cache(maxsize=8)
def accuracy_of(root: Path, *, experts: bool) -> Accuracy:
    """Return what the published runs say of step times of models with or without experts."""
    constants, runs = read_constants(root), read_published(root)
    kind = [run for run in runs if is_experts(run) is experts]
    low, high = interval_of(kind, constants) or (None, None)
    same = threshold_of(list(run_pairs(runs, constants)), experts=experts)
    other = threshold_between(kind, constants)
    return Accuracy(low, high, same, other, sum(run.row.use != "fitted" for run in kind))


def _smallest(timed: Sequence[tuple[Work, StepTime]]) -> tuple[Work, StepTime]:
    """Return the smallest micro-batch, with checkpointing if it is tried."""
    return min(timed, key=lambda each: (each[0].batch, -each[0].recompute))


@dataclass(frozen=True, slots=True)
class Search:
    """The search for the layouts that fit."""

    architecture: Architecture
    job: Job
    demand: Demand
    cluster: PlannedCluster
    constants: Constants
    root: Path
    sure: bool

    def fitting(self) -> tuple[list[PlannedLayout], int]:
        """Return the layouts that fit, and the number of those that were tried."""
        tried, found = 0, []
        for layout in layouts(self.demand, self.cluster.cluster):
            timed = sorted(self._timed(layout), key=lambda each: each[1].seconds)
            tried += bool(timed)
            if (first := self._first(layout, timed)) is not None:
                found.append(first)
        return found, tried

    def least(self) -> tuple[str, tuple[int, int]] | None:
        """Return the layout that needs the least memory, and how much; None if no layout was traced."""
        found = []
        for layout in layouts(self.demand, self.cluster.cluster):
            if timed := list(self._timed(layout)):
                with suppress(EstimateError):  # the family was not traced with this layout
                    found.append((self._memory(layout, _smallest(timed)[0]).needed, layout_name(layout)))
        return min(found)[::-1] if found else None

    def _first(self, layout: Layout, timed: Sequence[tuple[Work, StepTime]]) -> PlannedLayout | None:
        """Return the fastest way to run a layout that fits.

        A larger micro-batch than one that does not fit is not tried.
        """
        too_large: dict[float, int] = {}
        if not timed or self._fits(layout, *_smallest(timed)) is None:
            return None
        for work, time in timed:
            if work.batch >= too_large.get(work.recompute, work.batch + 1):
                continue
            if (found := self._fits(layout, work, time)) is not None:
                return found
            too_large[work.recompute] = work.batch
        return None

    def _timed(self, layout: Layout) -> Iterator[tuple[Work, StepTime]]:
        for work in works(self.demand, layout):
            yield work, step_time(self.demand.decoder, work, layout, self.cluster.cluster, self.constants)

    def _fits(self, layout: Layout, work: Work, time: StepTime) -> PlannedLayout | None:
        try:
            memory = self._memory(layout, work)
        except EstimateError:  # the family was not traced with this layout
            return None
        answer = verdict(memory.needed, self.cluster.memory)
        if answer == DOES_NOT_FIT or (self.sure and answer != FITS):
            return None
        return PlannedLayout(layout, work, time, memory.peak, memory.needed, answer)

    def _memory(self, layout: Layout, work: Work) -> Estimate:
        job = replace(
            self.job,
            layout=layout,
            batch=work.batch,
            accumulation=work.accumulation,
            checkpointing=bool(work.recompute),
        )
        return estimate_architecture(self.architecture, job, self.root)

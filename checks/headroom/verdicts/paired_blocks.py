"""Lay out a session's runs by slot, and pair a claim's baseline, subject and control by block."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property
from math import inf, isnan, nan
from operator import attrgetter, itemgetter
from statistics import median
from typing import Any, NamedTuple

from headroom.records.claims import MeasuredClaim, Point
from headroom.records.evidence import Evidence, Run, Slot, block_orders, place, slot_of


class RunLayout:
    """The runs of one session by slot, with checks of their order that do not depend on a claim."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.runs: dict[Slot, list[Run]] = defaultdict(list)
        self._ran: dict[int, list[tuple[int, Slot]]] = defaultdict(list)
        self._values: dict[tuple[int, str], float] = {}
        slots: dict[tuple[Any, ...], Slot] = {}  # one object per slot, since creating and comparing slots is slow
        for run in evidence.runs:
            key = (run.arm, run.control, *run.point.items())
            slot = slots.get(key) or slots.setdefault(key, slot_of(run))
            self.runs[slot].append(run)
            self._ran[run.block].append((run.position, slot))
        for failure in evidence.failures:
            self._ran[failure.block].append((failure.position, slot_of(failure)))

    @property
    def blocks(self) -> set[int]:
        """Return the numbers of the blocks with at least one run or failure."""
        return set(self._ran)

    @cached_property
    def repeated(self) -> bool:
        """Return whether a slot of a block has two runs."""
        return any(len(runs) != len({run.block for run in runs}) for runs in self.runs.values())

    @cached_property
    def failures(self) -> Mapping[Slot, int]:
        """Return the number of failed runs by slot."""
        return Counter(map(slot_of, self.evidence.failures))

    @cached_property
    def in_order(self) -> bool:
        """Return whether each block has the order of the recorded seed, and the runs' times agree with it."""
        seed = self.evidence.design.order_seed
        slots = {slot for ran in self._ran.values() for _, slot in ran}
        for ran, order in zip(self._ran.values(), block_orders(slots, seed, self._ran), strict=True):
            if [slot for _, slot in sorted(ran, key=itemgetter(0))] != order:
                return False
        clock = -inf
        for run in sorted(self.evidence.runs, key=attrgetter("block", "position")):
            if not clock <= run.started < run.ended:
                return False
            clock = run.ended
        return True

    def value(self, run: Run, metric: str) -> float:
        """Return ``value`` of one of the session's runs, cached because several claims need it."""
        key = (id(run), metric)
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = value(run, metric)
        return found


class PairedBlock(NamedTuple):
    """Baseline, subject and control of one block; the control is None if it has no run."""

    baseline: Run
    subject: Run
    control: Run | None

    @property
    def runs(self) -> tuple[Run, ...]:
        """Return the runs of the block."""
        return (*self[:2], self.control) if self.control else self[:2]


def blocks(claim: MeasuredClaim, layout: RunLayout, point: Point) -> list[PairedBlock]:
    """Return the blocks of a session in which both of a claim's arms ran at a point without failure."""
    at, metric = place(point), claim.metric.name

    def found(arm: str, *, control: bool = False) -> dict[int, Run]:
        """Return the first run of each block in this slot that has the metric."""
        runs = layout.runs.get(Slot(arm, control, at), ())
        return {run.block: run for run in reversed(runs) if metric in run.samples}

    baselines, subjects, controls = found(claim.baseline), found(claim.subject), found(claim.baseline, control=True)
    arms = (claim.baseline, claim.subject)
    failed = {failure.block for failure in layout.evidence.failures if failure.point == point and failure.arm in arms}
    return [
        PairedBlock(baselines[number], subjects[number], controls.get(number))
        for number in sorted(baselines.keys() & subjects.keys() - failed)
    ]


def value(run: Run, metric: str) -> float:
    """Return a run's value: the median of its samples. Runs are replicates, samples are not.

    Return nan if a sample is not a positive, finite number, which the median would hide.
    """
    samples = run.samples[metric]
    known = samples and min(samples) > 0 and max(samples) < inf and not isnan(sum(samples))
    return median(samples) if known else nan

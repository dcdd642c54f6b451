"""The runs of a session, laid out once for every claim, and those that speak for one claim at one point, by block."""

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
    """The runs of one session by slot, and what can be said of their order whatever the claim."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.runs: dict[Slot, list[Run]] = defaultdict(list)
        self._ran: dict[int, list[tuple[int, Slot]]] = defaultdict(list)
        self._values: dict[tuple[int, str], float] = {}
        slots: dict[
            tuple[Any, ...], Slot
        ] = {}  # one object for runs alike, since to make it and to compare it takes time
        for run in evidence.runs:
            key = (run.arm, run.control, *run.point.items())
            slot = slots.get(key) or slots.setdefault(key, slot_of(run))
            self.runs[slot].append(run)
            self._ran[run.block].append((run.position, slot))
        for failure in evidence.failures:
            self._ran[failure.block].append((failure.position, slot_of(failure)))

    @property
    def blocks(self) -> set[int]:
        """The numbers of the blocks of which anything ran."""
        return set(self._ran)

    @cached_property
    def repeated(self) -> bool:
        """Whether a slot of a block was filled twice."""
        return any(len(runs) != len({run.block for run in runs}) for runs in self.runs.values())

    @cached_property
    def failures(self) -> Mapping[Slot, int]:
        """How many runs of each slot gave no result."""
        return Counter(map(slot_of, self.evidence.failures))

    @cached_property
    def in_order(self) -> bool:
        """Whether the order of each block is the one that the recorded seed gives, and the clock agrees."""
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
        """As ``value``, of one of its runs: several claims and the noise ask for it."""
        key = (id(run), metric)
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = value(run, metric)
        return found


class PairedBlock(NamedTuple):
    """Baseline, subject and control of one block; the control is missing where it was not run."""

    baseline: Run
    subject: Run
    control: Run | None

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that there are."""
        return (*self[:2], self.control) if self.control else self[:2]


def blocks(claim: MeasuredClaim, layout: RunLayout, point: Point) -> list[PairedBlock]:
    """The blocks of a session in which no run of a claim failed at this point."""
    at, metric = place(point), claim.metric.name

    def found(arm: str, *, control: bool = False) -> dict[int, Run]:
        """The first run of each block in this slot that has the metric."""
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
    """What a run counts as: the median of its samples, however many there are. Runs are replicates, samples are not.

    Not a number where a sample is no positive, finite one, which the median would hide.
    """
    samples = run.samples[metric]
    known = samples and min(samples) > 0 and max(samples) < inf and not isnan(sum(samples))
    return median(samples) if known else nan

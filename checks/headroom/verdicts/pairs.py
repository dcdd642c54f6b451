"""The runs of a session, laid out once for every claim, and those that speak for one claim at one point, by block."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf
from operator import attrgetter, itemgetter
from statistics import median

from headroom.records.claims import MeasuredClaim, Point
from headroom.records.evidence import Evidence, Run, Slot, block_orders, place, slot_of


class Layout:
    """The runs of one session by slot, and what can be said of their order whatever the claim."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.runs: dict[Slot, list[Run]] = defaultdict(list)
        self._ran: dict[int, list[tuple[int, Slot]]] = defaultdict(list)
        for run in evidence.runs:
            slot = slot_of(run)
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
        timed = sorted(self.evidence.runs, key=attrgetter("block", "position"))
        late = any(b.started < a.ended for a, b in pairwise(timed))
        return not late and not any(run.ended <= run.started for run in timed)


@dataclass(frozen=True, slots=True)
class Block:
    """Baseline, subject and control of one block; the control is missing where it was not run."""

    baseline: Run
    subject: Run
    control: Run | None

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that there are."""
        pair = (self.baseline, self.subject)
        return (*pair, self.control) if self.control else pair


def blocks(claim: MeasuredClaim, layout: Layout, point: Point) -> list[Block]:
    """The blocks of a session in which no run of a claim failed at this point."""
    at = place(point)

    def found(arm: str, *, control: bool = False) -> dict[int, Run]:
        """The first run of each block in this slot that has the metric."""
        runs = layout.runs.get(Slot(arm, control, at), ())
        return {run.block: run for run in reversed(runs) if claim.metric.name in run.samples}

    baselines, subjects, controls = found(claim.baseline), found(claim.subject), found(claim.baseline, control=True)
    arms = (claim.baseline, claim.subject)
    failed = {failure.block for failure in layout.evidence.failures if failure.point == point and failure.arm in arms}
    return [
        Block(baselines[number], subjects[number], controls.get(number))
        for number in sorted(baselines.keys() & subjects.keys() - failed)
    ]


def value(run: Run, metric: str) -> float:
    """What a run counts as: the median of its samples, however many there are. Runs are replicates, samples are not.

    Not a number where a sample is no positive, finite one, which the median would hide.
    """
    samples = run.samples[metric]
    known = samples and all([0 < sample < inf for sample in samples])  # noqa: C419 - a generator would take twice as long
    return median(samples) if known else float("nan")

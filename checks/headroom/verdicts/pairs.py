"""The runs of a session that speak for one claim at one point, paired by block."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from statistics import median

from headroom.records.claims import MeasuredClaim, Point
from headroom.records.evidence import Evidence, Run


@dataclass(frozen=True, slots=True)
class Block:
    """Baseline, subject and control of one block; the control is missing where it was not run."""

    baseline: Run
    subject: Run
    control: Run | None

    def runs(self) -> Iterator[Run]:
        """The runs that there are."""
        return (run for run in (self.baseline, self.subject, self.control) if run is not None)


def blocks(claim: MeasuredClaim, evidence: Evidence, point: Point) -> list[Block]:
    """The blocks of a session in which no run of a claim failed at this point."""
    found: dict[tuple[int, str, bool], Run] = {}
    for run in evidence.runs:
        if run.point == point and claim.metric.name in run.samples:
            found.setdefault((run.block, run.arm, run.control), run)
    arms = (claim.baseline, claim.subject)
    failed = {failure.block for failure in evidence.failures if failure.point == point and failure.arm in arms}
    return [
        Block(baseline, subject, found.get((number, claim.baseline, True)))
        for number in sorted({block for block, _, _ in found} - failed)
        if (baseline := found.get((number, claim.baseline, False)))
        and (subject := found.get((number, claim.subject, False)))
    ]


def value(run: Run, metric: str) -> float:
    """What a run counts as: the median of its samples, however many there are. Runs are replicates, samples are not.

    Not a number where a sample is no positive, finite one, which the median would hide.
    """
    samples = run.samples[metric]
    return median(samples) if samples and all(0 < sample < inf for sample in samples) else float("nan")

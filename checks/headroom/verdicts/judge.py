"""Judge a claim by one session: compute its verdict from the raw samples."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from headroom.records.claims import MeasuredClaim, Point
from headroom.records.evidence import Evidence
from headroom.records.facts import HardwareClass
from headroom.records.metrics import METRICS
from headroom.verdicts.gates import Case, failed_gate
from headroom.verdicts.paired_blocks import RunLayout, blocks

if TYPE_CHECKING:
    from headroom.maths.statistics import Comparison

Word = Literal["supported", "contradicted", "inconclusive", "flips"]

# Confidence levels over all points of a sweep together; see docs/contribute/statistics.md.
_LEVELS = {"better": 0.99, "not_worse": 0.90, "equal_within": 0.90}
_CONTROL_LEVEL = 0.99


@dataclass(frozen=True, slots=True)
class PointVerdict:
    """A session's verdict on a claim at one point. Samples are one value per block, in the metric's unit."""

    point: Point
    asserted: bool
    """Whether the claim asserts this point, or only shows it."""
    verdict: Word
    reason: str
    ratio: float
    """Improvement of subject over baseline: above 1 the subject is better; nan if unknown."""
    low: float
    high: float
    n: int
    level: float
    baseline: tuple[float, ...]
    subject: tuple[float, ...]
    control: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SessionVerdict:
    """A session's verdict on a claim: over all asserted points, and at each point."""

    verdict: Word
    reason: str
    points: tuple[PointVerdict, ...]


def judge(claim: MeasuredClaim, evidence: Evidence, hardware: HardwareClass | None = None) -> SessionVerdict:
    """Judge a claim by one session.

    Invalid evidence raises no error: the verdict is ``inconclusive``, with the reason.

    Args:
        claim: the claim.
        evidence: the session.
        hardware: the class of the session's machine; without it, the gates that need it are skipped.
    """
    return judge_layout(claim, RunLayout(evidence), hardware)


def judge_layout(claim: MeasuredClaim, layout: RunLayout, hardware: HardwareClass | None) -> SessionVerdict:
    """Judge as ``judge``, with the session's runs already laid out."""
    return overall(tuple(_point(claim, layout, point, hardware) for point in claim.scope.points))


def overall(points: tuple[PointVerdict, ...]) -> SessionVerdict:
    """Return the verdict over all asserted points."""
    asserted = [point for point in points if point.asserted]
    words = {point.verdict for point in asserted}
    if len(words) == 1:
        return SessionVerdict(asserted[0].verdict, asserted[0].reason, points)
    if {"supported", "contradicted"} <= words:
        return SessionVerdict("flips", "depends on the point", points)
    first = next(point for point in asserted if point.verdict == "inconclusive")
    return SessionVerdict("inconclusive", first.reason, points)


def _point(claim: MeasuredClaim, layout: RunLayout, point: Point, hardware: HardwareClass | None) -> PointVerdict:
    paired = blocks(claim, layout, point)
    share = len(claim.scope.points)  # Bonferroni: the points of a sweep share the error
    level = 1 - (1 - _LEVELS[claim.relation]) / share
    name = claim.metric.name
    baseline = tuple([layout.value(block.baseline, name) for block in paired])
    subject = tuple([layout.value(block.subject, name) for block in paired])
    control = tuple([layout.value(block.control, name) for block in paired if block.control])
    runs = [run for block in paired for run in block.runs]
    case = Case(claim, layout, point, paired, runs, baseline, control, hardware, 1 - (1 - _CONTROL_LEVEL) / share)
    try:
        result = _compared(claim, baseline, subject, level)
        reason = failed_gate(case)
    except Exception as error:  # noqa: BLE001 - an error while judging must support nothing
        result, reason = _nothing(len(paired), level), f"statistics_raised ({type(error).__name__})"
    if not paired:
        reason = "not_measured"
    return PointVerdict(
        point=point,
        asserted=claim.scope.asserted(point),
        verdict="inconclusive" if reason else result.verdict,
        reason=reason or result.reason,
        ratio=result.ratio,
        low=result.low,
        high=result.high,
        n=result.n,
        level=result.level,
        baseline=baseline,
        subject=subject,
        control=control,
    )


def _compared(
    claim: MeasuredClaim, baseline: tuple[float, ...], subject: tuple[float, ...], level: float
) -> "Comparison":
    from headroom.maths.statistics import compare, compare_exact  # noqa: PLC0415 - numpy is slow to load, and often not needed

    kind = METRICS[claim.metric.name]
    return (compare_exact if kind.exact else compare)(
        baseline,
        subject,
        better=kind.better,
        min_effect=claim.min_effect,
        relation=claim.relation,
        margin=claim.margin,
        level=level,
    )


def _nothing(n: int, level: float) -> "Comparison":
    """Return a comparison without a result."""
    from headroom.maths.statistics import Comparison  # noqa: PLC0415 - as above

    return Comparison("inconclusive", "bad_samples", float("nan"), 0.0, float("inf"), n, level)

"""Compute the figures of a measured claim at one point, with their units and confidence intervals."""

import math
from collections.abc import Sequence
from statistics import median

from headroom.records.claims import MeasuredClaim
from headroom.verdicts.judge import PointVerdict

_LEVEL = 0.99  # confidence level of a median's interval; a ratio's interval has its claim's level


def value_of(name: str, point: PointVerdict, claim: MeasuredClaim) -> tuple[float, str]:
    """Return a figure's value and unit: a ratio without unit, or an amount in the metric's unit."""
    if name == "ratio":
        return point.ratio, "1"
    if name == "slowdown":
        return _inverse(point.ratio), "1"
    if name == "change":
        return _change(claim, point.ratio), "1"
    subject, baseline = median(point.subject), median(point.baseline)
    amounts = {"subject": subject, "baseline": baseline, "difference": subject - baseline, "saving": baseline - subject}
    return amounts[name], claim.metric.kind.unit


def range_of(name: str, point: PointVerdict, claim: MeasuredClaim) -> tuple[float, float]:
    """Return a figure's confidence interval: that of the ratio, or of the median over the blocks."""
    more = tuple(s - b for s, b in zip(point.subject, point.baseline, strict=True))
    samples = {
        "subject": point.subject,
        "baseline": point.baseline,
        "difference": more,
        "saving": tuple(-each for each in more),
    }
    if name in samples:
        low, high = _of_median(samples[name])
        value = value_of(name, point, claim)[0]
        return min(low, value), max(high, value)
    ends = (point.low, point.high)
    if name == "slowdown":
        ends = (_inverse(point.high), _inverse(point.low))
    elif name == "change":
        ends = (_change(claim, point.low), _change(claim, point.high))
    return min(ends), max(ends)


def _change(claim: MeasuredClaim, ratio: float) -> float:
    return (ratio if claim.metric.kind.better == "higher" else _inverse(ratio)) - 1


def _inverse(ratio: float) -> float:
    return 1 / ratio if ratio else math.inf


def _of_median(samples: Sequence[float]) -> tuple[float, float]:
    """Return the sign-test interval of a median, or the samples' whole range if there are too few for the level."""
    n, end = len(samples), 1  # start with the first and the last ordered sample, then move inwards
    ordered = sorted(samples)
    while 2 * sum(math.comb(n, k) for k in range(end + 1)) <= (1 - _LEVEL) * 2**n:
        end += 1
    return ordered[end - 1], ordered[n - end]

"""Axes of plots: positions of values, and ticks."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from headroom.records import MeasuredClaim
from headroom.verdicts import PointVerdict

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1)


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic axis of ratios."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float]) -> "Scale":
        """Return an axis that holds these values and 1, with some space at both ends."""
        found = [1.0, *values]
        low, high = min(found), max(found)
        margin = max((high / low) ** 0.06, 1.01)
        return cls(low / margin, high * margin)

    @classmethod
    def of(cls, claim: MeasuredClaim, points: Iterable[PointVerdict]) -> "Scale":
        """Return an axis that holds all finite values of these points, and the band of no difference."""
        known = [v for p in points for v in (p.low, p.high, p.ratio, *ratios(claim, p)) if v > 0 and math.isfinite(v)]
        return cls.over([*zone(claim), *known])

    def place(self, value: float) -> float:
        """Return the position of a ratio in percent."""
        clamped = min(max(value, self.low), self.high)
        return 100 * math.log(clamped / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """Return at most six round values: in equal steps on a short axis, in steps of 1, 2, 5 on a long one."""
        short, few = 6, 6
        if self.high / self.low <= short:
            ladders = [[step * k for k in range(int(self.low / step), int(self.high / step) + 2)] for step in _STEPS]
        else:
            ladders = [[step * 10.0**e for e in range(-6, 7) for step in steps] for steps in ((1, 2, 5), (1, 3), (1,))]
        inside = [[round(v, 6) for v in ladder if self.low <= round(v, 6) <= self.high] for ladder in ladders]
        gap = (self.high / self.low) ** 0.13
        apart = (ticks for ticks in inside if all(b / a > gap for a, b in pairwise(ticks)))
        return next((ticks for ticks in apart if 0 < len(ticks) <= few), [1.0])


@dataclass(frozen=True, slots=True)
class Grid:
    """The axis of a sweep: logarithmic, unless its values are evenly spaced or not all above 0."""

    values: tuple[float, ...]

    @property
    def logarithmic(self) -> bool:
        """Whether the axis is logarithmic."""
        steps = [b - a for a, b in pairwise(self.values)]
        equal = len(steps) > 1 and all(math.isclose(step, steps[0]) for step in steps)
        return self.values[0] > 0 and not equal

    def place(self, value: float) -> float:
        """Return the position of a value in percent, with space at both ends."""
        at = math.log if self.logarithmic else float
        first, last = at(self.values[0]), at(self.values[-1])
        return 8 + 84 * (at(value) - first) / (last - first)


def tick(value: float) -> str:
    """Return a tick's label for a ratio."""
    return "same" if value == 1 else f"{value:.3g}×"


def ratios(claim: MeasuredClaim, point: PointVerdict) -> list[float]:
    """Return the improvement of each block."""
    pairs = zip(point.baseline, point.subject, strict=True)
    lower = claim.metric.kind.better == "lower"
    return [(a / b if lower else b / a) for a, b in pairs if a > 0 and b > 0]


def zone(claim: MeasuredClaim) -> tuple[float, float]:
    """Return the range of ratios that count as no difference."""
    margin = claim.min_effect if claim.margin is None else claim.margin
    return 1 / (1 + margin), 1 + margin

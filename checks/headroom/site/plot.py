"""One plot: a claim at every point of one session, as inline SVG that scales without its text.

Horizontal places are percentages of the width and everything else is in pixels, so that the labels of a plot stay
legible on a phone. Colours are CSS variables; the shape of a mark says the verdict too.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from headroom.records import MeasuredClaim
from headroom.site import words
from headroom.verdicts import PointVerdict

_ROW = 60
_AXIS = 34
_STEPS = (1, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 7, 10)
_MARKS = {
    "supported": '<path class="mark mark-supported" d="M0-7L7 0L0 7L-7 0Z"/>',
    "contradicted": '<path class="mark mark-contradicted" d="M-6-6L6 6M-6 6L6-6"/>',
    "inconclusive": '<circle class="mark mark-inconclusive" r="6"/>',
}


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic axis over the width of the plot."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Sequence[float]) -> "Scale":
        """An axis that holds these values and 1, with room at both ends."""
        low, high = min(1.0, *values), max(1.0, *values)
        room = max((high / low) ** 0.06, 1.01)
        return cls(low / room, high * room)

    def place(self, value: float) -> float:
        """Where a value stands, in percent of the width."""
        clamped = min(max(value, self.low), self.high)
        return 100 * math.log(clamped / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """At most seven round values, 1 among them."""
        span = math.log(self.high / self.low)
        candidates = sorted({10.0**e * s for e in range(-3, 4) for s in _STEPS} | {1 / s for s in _STEPS})
        chosen = [1.0]
        for value in sorted(candidates, key=lambda v: (abs(math.log(v)), v)):
            inside = self.low <= value <= self.high
            if inside and all(abs(math.log(value / other)) > span / 7 for other in chosen):
                chosen.append(value)
        return sorted(chosen)


def figure(claim: MeasuredClaim, points: Sequence[PointVerdict], place: str) -> str:
    """The plot of a session with its caption, as one HTML block without a blank line.

    Args:
        claim: what was measured.
        points: the verdicts at its points, one row each.
        place: the hardware class in words.
    """
    drawing = svg(claim, points, place)
    caption = (
        "Improvement of the subject over the baseline, on a logarithmic axis. Mark: estimate (◆ supported, "
        "× contradicted, ○ inconclusive); whisker: interval; dots: one a block; band: too small to count."
    )
    return f'<figure class="plot" data-search-exclude>\n{drawing}\n<figcaption>{caption}</figcaption>\n</figure>'


def svg(claim: MeasuredClaim, points: Sequence[PointVerdict], place: str) -> str:
    """The drawing alone."""
    finite = [v for p in points for v in (p.low, p.high, p.ratio, *ratios(claim, p)) if v > 0 and math.isfinite(v)]
    scale = Scale.over([*_zone(claim), *finite])
    height = _ROW * len(points) + _AXIS
    title = _text(f"{claim.metric.kind.title} on {place}: ratio of improvement")
    described = _text(". ".join(f"{_label(claim, p)}: {p.verdict}, {words.interval(claim, p)}" for p in points))
    rows = "\n".join(part for i, p in enumerate(points) for part in _row(claim, p, scale, i * _ROW))
    return (
        f'<svg role="img" width="100%" height="{height}" xmlns="http://www.w3.org/2000/svg">\n'
        f"<title>{title}</title>\n<desc>{described}.</desc>\n"
        f"{_ground(claim, scale, height - _AXIS)}\n{rows}\n</svg>"
    )


def _text(words: str) -> str:
    """Words as they stand in the drawing, on one line: with a line of its own, a fence would begin in it."""
    return escape(" ".join(words.split()))


def ratios(claim: MeasuredClaim, point: PointVerdict) -> list[float]:
    """The improvement of each block."""
    pairs = zip(point.baseline, point.subject, strict=True)
    lower = claim.metric.kind.better == "lower"
    return [(a / b if lower else b / a) for a, b in pairs if a > 0 and b > 0]


def _zone(claim: MeasuredClaim) -> tuple[float, float]:
    """The ratios that count as no difference."""
    if claim.margin is not None:
        return 1 / (1 + claim.margin), 1 + claim.margin
    return 1.0, 1 + claim.min_effect


def _ground(claim: MeasuredClaim, scale: Scale, bottom: int) -> str:
    """Axis, band and the line at 1, where both arms are the same."""
    left, right = (scale.place(value) for value in _zone(claim))
    parts = [f'<rect class="zone" x="{left:.2f}%" y="0" width="{right - left:.2f}%" height="{bottom}"/>']
    for value in scale.ticks():
        x = scale.place(value)
        name = "one" if value == 1 else "tick"
        anchor = "start" if x < 6 else "end" if x > 94 else "middle"  # noqa: PLR2004 - so that no label is cut off
        parts.append(f'<line class="{name}" x1="{x:.2f}%" x2="{x:.2f}%" y1="0" y2="{bottom}"/>')
        parts.append(f'<text class="axis" x="{x:.2f}%" y="{bottom + 20}" text-anchor="{anchor}">{value:.3g}×</text>')
    return "\n".join(parts)


def _row(claim: MeasuredClaim, point: PointVerdict, scale: Scale, top: int) -> Iterator[str]:
    """The label of a point, and below it its blocks, its interval and its estimate."""
    middle = top + 45
    yield f'<rect class="behind" x="0" y="{top}" width="100%" height="30"/>'
    label = f'<tspan class="row">{_text(_label(claim, point))}</tspan> {_short(point)}'
    yield f'<text x="0" y="{top + 24}">{label}</text>'
    for i, ratio in enumerate(ratios(claim, point)):
        y = middle + round(((i * 0.618034) % 1 - 0.5) * 16, 1)  # the golden ratio spreads neighbours apart
        yield f'<circle class="block" cx="{scale.place(ratio):.2f}%" cy="{y:g}" r="2"/>'
    if not (math.isfinite(point.ratio) and math.isfinite(point.high)):
        return
    low, high = scale.place(point.low), scale.place(point.high)
    shown = "whisker" if point.asserted else "whisker only-shown"
    yield f'<line class="{shown}" x1="{low:.2f}%" x2="{high:.2f}%" y1="{middle}" y2="{middle}"/>'
    yield f'<svg x="{scale.place(point.ratio):.2f}%" y="{middle}" overflow="visible">{_MARKS[point.verdict]}</svg>'


def _label(claim: MeasuredClaim, point: PointVerdict) -> str:
    place = words.where(claim, point.point) or claim.metric.kind.title
    return place if point.asserted else f"{place}, not claimed"


def _short(point: PointVerdict) -> str:
    """Estimate and interval, so short that they fit above a row on a phone."""
    if not (math.isfinite(point.ratio) and math.isfinite(point.high)):
        return "no interval"
    ratio, low, high = (words.number(value) for value in (point.ratio, point.low, point.high))
    return f"{ratio} exactly" if point.low == point.high else f"{ratio} ({low} to {high})"

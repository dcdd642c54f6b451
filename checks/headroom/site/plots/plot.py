"""The figure of a claim as inline SVG: a curve for a sweep, or else a row per hardware class."""

from collections.abc import Iterator, Sequence

from headroom.records import MeasuredClaim
from headroom.site.claims import sweep_phrases
from headroom.site.claims.points_table import Series
from headroom.site.plots import curve
from headroom.site.plots.drawing import describe_point, divided, known, label, lines, mark, spread, svg_start, text
from headroom.site.plots.scales import Grid, Scale, ratios, tick, zone
from headroom.verdicts import PointVerdict
from headroom.verdicts.crossover import shape

_TOP = 24
_ROW = 64
_AXIS = 50
_SHAPES = {"supported": "● supported", "inconclusive": "○ not resolved", "contradicted": "× contradicted"}


def figure(claim: MeasuredClaim, series: Sequence[Series]) -> str:
    """Return the plot with its caption as one HTML block without blank lines.

    Args:
        claim: the measured claim.
        series: a session's points for each hardware class.
    """
    caption = f"<figcaption>{text(' '.join(_caption(claim, series)))}</figcaption>"
    return f'<figure class="plot" data-search-exclude>\n{svg(claim, series)}\n{caption}\n</figure>'


def svg(claim: MeasuredClaim, series: Sequence[Series]) -> str:
    """Return the drawing without its caption."""
    return curve.svg(claim, series, claim.scope.sweep) if claim.scope.sweep else _rows(claim, series)


def _caption(claim: MeasuredClaim, series: Sequence[Series]) -> Iterator[str]:
    """Yield the sentences that explain the drawing."""
    points = [point for each in series for point in each.points if known(point)]
    sweep = claim.scope.sweep
    logarithmic = sweep is not None and Grid(tuple(map(float, sweep.grid))).logarithmic
    yield (
        f"{'Above' if sweep else 'Right of'} “same”, {claim.subject} is better than {claim.baseline}. "
        f"{'Both axes are' if logarithmic else 'The axis of the ratio is'} logarithmic."
    )
    marks = [name for verdict, name in _SHAPES.items() if any(point.verdict == verdict for point in points)]
    if any(point.low < point.high for point in points):
        marks += ["whiskers: the interval", "dots: one block each"]
    least = (zone(claim)[1] - 1) * 100
    band = f"; grey band: less than {least:.3g}\u00a0%, too small to count" if least else ""
    yield f"{', '.join(marks)}{band}."
    found = [(each.place, shape(claim, each.points)) for each in series]
    hatched = [(place, each.between) for place, each in found if each and each.between]
    if sweep and hatched:
        places = ", ".join(f"{sweep_phrases.between(sweep, *between)} on {place}" for place, between in hatched)
        yield f"Hatched: the verdict changes {'somewhere in here' if len(series) == 1 else places}."


def _rows(claim: MeasuredClaim, series: Sequence[Series]) -> str:
    """Return a drawing with a row per hardware class."""
    found = [(each.place, point) for each in series for point in each.points]
    scale = Scale.of(claim, (point for _, point in found))
    bottom = _TOP + _ROW * len(found)
    parts = [svg_start(claim, series, "rows", bottom + _AXIS), *_ground(claim, scale, bottom)]
    for i, (place, point) in enumerate(found):
        parts += _row(claim, place, point, scale, _TOP + i * _ROW)
    return lines([*parts, "</svg>"])


def _ground(claim: MeasuredClaim, scale: Scale, bottom: int) -> Iterator[str]:
    """Yield the axis, the band of no difference and the line at ratio 1."""
    left, right = (scale.place(value) for value in zone(claim))
    yield f'<text class="axis" x="0" y="12">{divided(claim)}</text>'
    yield f'<rect class="zone" x="{left:.2f}%" y="{_TOP}" width="{right - left:.2f}%" height="{bottom - _TOP}"/>'
    for value in scale.ticks():
        x = scale.place(value)
        anchor = "start" if x < 6 else "end" if x > 94 else "middle"  # noqa: PLR2004 - keeps labels inside the drawing
        name = "one" if value == 1 else "tick"
        yield f'<line class="{name}" x1="{x:.2f}%" x2="{x:.2f}%" y1="{_TOP}" y2="{bottom}"/>'
        yield f'<text class="axis" x="{x:.2f}%" y="{bottom + 20}" text-anchor="{anchor}">{tick(value)}</text>'
    yield f'<text class="axis" x="0" y="{bottom + 42}">← worse</text>'
    yield f'<text class="axis" x="100%" y="{bottom + 42}" text-anchor="end">better →</text>'


def _row(claim: MeasuredClaim, place: str, point: PointVerdict, scale: Scale, top: int) -> Iterator[str]:
    """Yield the name of a class, its blocks, its interval and its estimate."""
    middle = top + 45
    yield f'<rect class="behind" x="0" y="{top}" width="100%" height="28"/>'
    yield f'<text class="row" x="0" y="{top + 20}">{label(place)}</text>'
    for i, ratio in enumerate(ratios(claim, point)):
        y = middle + spread(i, 16)
        yield f'<circle class="block" cx="{scale.place(ratio):.2f}%" cy="{y:g}" r="2"/>'
    if not known(point):
        return
    low, high = scale.place(point.low), scale.place(point.high)
    if point.low < point.high:
        yield f'<line class="whisker" x1="{low:.2f}%" x2="{high:.2f}%" y1="{middle}" y2="{middle}"/>'
        for end in (low, high):
            yield f'<line class="whisker" x1="{end:.2f}%" x2="{end:.2f}%" y1="{middle - 5}" y2="{middle + 5}"/>'
    yield f'<svg class="point" x="{scale.place(point.ratio):.2f}%" y="{middle}" overflow="visible">'
    yield f"<title>{text(describe_point(claim, point))}</title>{mark(point.verdict)}</svg>"

"""The plot of a sweep: a curve a hardware class, with intervals and the stretch in which the verdict changes.

Horizontal places are percentages of the width and vertical ones are in pixels, so that labels stay legible on a phone.
Colours are CSS variables; the shape of a mark says the verdict, the dash of a line and the shape the class.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from headroom.records import MeasuredClaim
from headroom.records.claims import Sweep
from headroom.site.claims import sweep_phrases
from headroom.site.claims.points_table import Series
from headroom.site.plots.drawing import divided, known, label, lines, mark, opened, spread, text, told
from headroom.site.plots.scales import Grid, Scale, ratios, tick, zone
from headroom.verdicts import PointVerdict
from headroom.verdicts.crossover import Between, shape

_TOP, _BOTTOM, _HEIGHT = 46, 256, 302
_INSIDE = 24
"""Room above the highest value and below the lowest, for the names of lines."""
_NARROW = 260
"""Pixels: the width of a plot on a phone."""
_MARK = 11
"""Pixels: an interval that is not taller than a mark lies behind it."""
_DODGE = 9
"""Pixels between the classes at one value of the sweep."""


def svg(claim: MeasuredClaim, series: Sequence[Series], sweep: Sweep) -> str:
    """The drawing alone."""
    scale = Scale.of(claim, (point for each in series for point in each.points))
    grid = Grid(tuple(map(float, sweep.grid)))
    crossings = dict.fromkeys(
        found.between for each in series if (found := shape(claim, each.points)) and found.between
    )
    parts = [opened(claim, series, "curve", _HEIGHT)]
    for i, between in enumerate(crossings):
        parts += _crossover(claim, sweep, grid, between, i, named=len(crossings) == 1)
    parts += [*_ground(claim, scale), *_grid(sweep, grid)]
    for i, each in enumerate(series):
        parts += _series(claim, sweep, each, i, (i - (len(series) - 1) / 2) * _DODGE, scale, grid)
    return lines([*parts, *_names(sweep, series, scale, grid), "</svg>"])


def _y(scale: Scale, ratio: float) -> float:
    room = _BOTTOM - _TOP - 2 * _INSIDE
    return round(_BOTTOM - _INSIDE - scale.place(ratio) / 100 * room, 1)


def _ground(claim: MeasuredClaim, scale: Scale) -> Iterator[str]:
    """The vertical axis, the band of no difference and the line at 1, where both arms are the same."""
    bottom, top = (_y(scale, value) for value in zone(claim))
    yield f'<rect class="zone" x="0" y="{top:g}" width="100%" height="{bottom - top:g}"/>'
    for ratio in scale.ticks():
        y = _y(scale, ratio)
        yield f'<line class="{"one" if ratio == 1 else "tick"}" x1="0" x2="100%" y1="{y:g}" y2="{y:g}"/>'
        yield f'<text class="axis" x="-8" y="{y + 4:g}" text-anchor="end">{tick(ratio)}</text>'
    yield f'<text class="axis" x="-48" y="12">{divided(claim)}</text>'


def _grid(sweep: Sweep, grid: Grid) -> Iterator[str]:
    """The horizontal axis, with a name at each value for which there is room."""
    edge = float("inf")
    for value in reversed(sweep.grid):
        x, name = grid.place(float(value)), sweep_phrases.figure(sweep, value)
        yield f'<line class="tick" x1="{x:.2f}%" x2="{x:.2f}%" y1="{_BOTTOM}" y2="{_BOTTOM + 5}"/>'
        half = 100 * (7 * len(name) + 6) / 2 / _NARROW  # of its width on a phone
        if x + half < edge:
            yield f'<text class="axis" x="{x:.2f}%" y="{_BOTTOM + 20}" text-anchor="middle">{text(name)}</text>'
            edge = x - half
    title = sweep_phrases.title(sweep)
    yield f'<text class="axis" x="50%" y="{_BOTTOM + 40}" text-anchor="middle">{text(title)}</text>'


def _crossover(
    claim: MeasuredClaim, sweep: Sweep, grid: Grid, between: Between, number: int, *, named: bool
) -> Iterator[str]:
    """The hatched stretch in which the verdict changes, and its name above it."""
    left, right = (grid.place(float(value)) for value in between)
    hatch = f"hatch-{claim.id}-{number}"
    slant = -45 if number % 2 else 45
    yield (
        f'<pattern id="{hatch}" width="7" height="7" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate({slant})"><line class="hatch" x1="0" x2="0" y1="0" y2="7"/></pattern>'
    )
    across = f'x="{left:.2f}%" y="{_TOP}" width="{right - left:.2f}%" height="{_BOTTOM - _TOP}"'
    yield f'<rect class="crossover" {across} fill="url(#{hatch})"/>'
    if named:
        words = text(f"changes {sweep_phrases.between(sweep, *between)}")
        width, middle = 100 * 7.5 * len(words) / _NARROW, 50
        if left + right < 2 * middle:  # begins or ends where the stretch does, but never leaves a narrow plot
            anchor, x = "start", max(min(left, 100 - width), -15)
        else:
            anchor, x = "end", min(max(right, width - 15), 100)
        yield f'<text class="between" x="{x:.2f}%" y="{_TOP - 8}" text-anchor="{anchor}">{words}</text>'


def _series(
    claim: MeasuredClaim, sweep: Sweep, series: Series, number: int, aside: float, scale: Scale, grid: Grid
) -> Iterator[str]:
    """One class: the line from point to point, then the points."""
    found = [(grid.place(float(p.point[sweep.axis])), _y(scale, p.ratio), p) for p in series.points if known(p)]
    yield f'<g class="series series-{number % 4}" transform="translate({aside:g})">'
    for (x1, y1, _), (x2, y2, _) in pairwise(found):
        yield f'<line class="line" x1="{x1:.2f}%" x2="{x2:.2f}%" y1="{y1:g}" y2="{y2:g}"/>'
    for x, y, point in found:
        yield f'<svg class="point" x="{x:.2f}%" overflow="visible"><title>{text(told(claim, point))}</title>'
        yield from _point(claim, point, scale)
        yield f'<g transform="translate(0 {y:g})">{mark(point.verdict, number)}</g></svg>'
    yield "</g>"


def _point(claim: MeasuredClaim, point: PointVerdict, scale: Scale) -> Iterator[str]:
    """The blocks and the interval of a point; nothing where every block agrees."""
    if point.low == point.high:
        return
    for i, ratio in enumerate(ratios(claim, point)):
        yield f'<circle class="block" cx="{spread(i, 16):g}" cy="{_y(scale, ratio):g}" r="2"/>'
    low, high = _y(scale, point.low), _y(scale, point.high)
    if low - high > _MARK:
        yield f'<path class="whisker" d="M-5 {high:g}H5M0 {high:g}V{low:g}M-5 {low:g}H5"/>'


def _names(sweep: Sweep, series: Sequence[Series], scale: Scale, grid: Grid) -> Iterator[str]:
    """The class of each line at its end: above it, or below where the line or another one comes from above."""
    found = {number: [p for p in each.points if known(p)] for number, each in enumerate(series)}
    ends = sorted((numbered for numbered in found.items() if numbered[1]), key=lambda each: -each[1][-1].ratio)
    placed: list[float] = []
    for rank, (number, points) in enumerate(ends):
        last = points[-1]
        falls = len(points) > 1 and points[-2].ratio > last.ratio
        below = rank > 0 or (falls and len(ends) == 1)  # two lines that end together are named on their two sides
        y = max(_y(scale, point.low) for point in points[-2:]) + 22 if below else _y(scale, last.high) - 13
        while any(abs(y - other) < 16 for other in placed):  # noqa: PLR2004 - the height of a line of text
            y += 16
        placed.append(y)
        x = min(grid.place(float(last.point[sweep.axis])) + 8, 100)
        at = f'x="{x:.2f}%" y="{y:g}" text-anchor="end"'
        yield f'<text class="name series-{number % 4}" {at}>{label(series[number].place)}</text>'

"""The plot of a sweep: a curve per hardware class with intervals and crossovers.

Horizontal positions are percentages and vertical ones pixels, so that labels stay legible on a phone.
Colours are CSS variables. A mark's shape shows the verdict; dashes and shapes tell the classes apart.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from headroom.records import MeasuredClaim
from headroom.records.claims import Sweep
from headroom.site.claims import sweep_phrases
from headroom.site.claims.points_table import Series
from headroom.site.plots.drawing import describe_point, divided, known, label, lines, mark, spread, svg_start, text
from headroom.site.plots.scales import Grid, Scale, ratios, tick, zone
from headroom.verdicts import PointVerdict
from headroom.verdicts.crossover import Between, shape

_TOP, _BOTTOM, _HEIGHT = 46, 256, 302
_INSIDE = 24
"""Pixels above the highest value and below the lowest, for the names of lines."""
_NARROW = 260
"""The width of a plot on a phone, in pixels."""
_MARK = 11
"""Pixels; a mark hides any interval that is not taller."""
_DODGE = 9
"""Pixels between the classes at one value of the sweep."""


def svg(claim: MeasuredClaim, series: Sequence[Series], sweep: Sweep) -> str:
    """Return the drawing."""
    scale = Scale.of(claim, (point for each in series for point in each.points))
    grid = Grid(tuple(map(float, sweep.grid)))
    crossings = dict.fromkeys(
        found.between for each in series if (found := shape(claim, each.points)) and found.between
    )
    parts = [svg_start(claim, series, "curve", _HEIGHT)]
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
    """Yield the vertical axis, the band of no difference and the line at ratio 1."""
    bottom, top = (_y(scale, value) for value in zone(claim))
    yield f'<rect class="zone" x="0" y="{top:g}" width="100%" height="{bottom - top:g}"/>'
    for ratio in scale.ticks():
        y = _y(scale, ratio)
        yield f'<line class="{"one" if ratio == 1 else "tick"}" x1="0" x2="100%" y1="{y:g}" y2="{y:g}"/>'
        yield f'<text class="axis" x="-8" y="{y + 4:g}" text-anchor="end">{tick(ratio)}</text>'
    yield f'<text class="axis" x="-48" y="12">{divided(claim)}</text>'


def _grid(sweep: Sweep, grid: Grid) -> Iterator[str]:
    """Yield the horizontal axis, with a label at each value that has room."""
    edge = float("inf")
    for value in reversed(sweep.grid):
        x, name = grid.place(float(value)), sweep_phrases.figure(sweep, value)
        yield f'<line class="tick" x1="{x:.2f}%" x2="{x:.2f}%" y1="{_BOTTOM}" y2="{_BOTTOM + 5}"/>'
        half = 100 * (7 * len(name) + 6) / 2 / _NARROW  # percent of its width on a phone
        if x + half < edge:
            yield f'<text class="axis" x="{x:.2f}%" y="{_BOTTOM + 20}" text-anchor="middle">{text(name)}</text>'
            edge = x - half
    title = sweep_phrases.title(sweep)
    yield f'<text class="axis" x="50%" y="{_BOTTOM + 40}" text-anchor="middle">{text(title)}</text>'


def _crossover(
    claim: MeasuredClaim, sweep: Sweep, grid: Grid, between: Between, number: int, *, named: bool
) -> Iterator[str]:
    """Yield the hatched range in which the verdict changes, with its label."""
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
        if left + right < 2 * middle:  # align with the range, but stay inside a narrow plot
            anchor, x = "start", max(min(left, 100 - width), -15)
        else:
            anchor, x = "end", min(max(right, width - 15), 100)
        yield f'<text class="between" x="{x:.2f}%" y="{_TOP - 8}" text-anchor="{anchor}">{words}</text>'


def _series(
    claim: MeasuredClaim, sweep: Sweep, series: Series, number: int, aside: float, scale: Scale, grid: Grid
) -> Iterator[str]:
    """Yield one class: the lines between points, then the points."""
    found = [(grid.place(float(p.point[sweep.axis])), _y(scale, p.ratio), p) for p in series.points if known(p)]
    yield f'<g class="series series-{number % 4}" transform="translate({aside:g})">'
    for (x1, y1, _), (x2, y2, _) in pairwise(found):
        yield f'<line class="line" x1="{x1:.2f}%" x2="{x2:.2f}%" y1="{y1:g}" y2="{y2:g}"/>'
    for x, y, point in found:
        yield f'<svg class="point" x="{x:.2f}%" overflow="visible"><title>{text(describe_point(claim, point))}</title>'
        yield from _point(claim, point, scale)
        yield f'<g transform="translate(0 {y:g})">{mark(point.verdict, number)}</g></svg>'
    yield "</g>"


def _point(claim: MeasuredClaim, point: PointVerdict, scale: Scale) -> Iterator[str]:
    """Yield the blocks and the interval of a point; nothing if all blocks agree."""
    if point.low == point.high:
        return
    for i, ratio in enumerate(ratios(claim, point)):
        yield f'<circle class="block" cx="{spread(i, 16):g}" cy="{_y(scale, ratio):g}" r="2"/>'
    low, high = _y(scale, point.low), _y(scale, point.high)
    if low - high > _MARK:
        yield f'<path class="whisker" d="M-5 {high:g}H5M0 {high:g}V{low:g}M-5 {low:g}H5"/>'


def _names(sweep: Sweep, series: Sequence[Series], scale: Scale, grid: Grid) -> Iterator[str]:
    """Yield the name of each class at the end of its line, above it or below it."""
    found = {number: [p for p in each.points if known(p)] for number, each in enumerate(series)}
    ends = sorted((numbered for numbered in found.items() if numbered[1]), key=lambda each: -each[1][-1].ratio)
    placed: list[float] = []
    for rank, (number, points) in enumerate(ends):
        last = points[-1]
        falls = len(points) > 1 and points[-2].ratio > last.ratio
        below = rank > 0 or (falls and len(ends) == 1)  # two lines that end together get a name on each side
        y = max(_y(scale, point.low) for point in points[-2:]) + 22 if below else _y(scale, last.high) - 13
        while any(abs(y - other) < 16 for other in placed):  # noqa: PLR2004 - the height of a line of text
            y += 16
        placed.append(y)
        x = min(grid.place(float(last.point[sweep.axis])) + 8, 100)
        at = f'x="{x:.2f}%" y="{y:g}" text-anchor="end"'
        yield f'<text class="name series-{number % 4}" {at}>{label(series[number].place)}</text>'

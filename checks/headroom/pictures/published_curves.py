"""Draw published rows as curves, such as bus bandwidth by message size, with a mark per row."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import ceil, log10
from typing import Final

from headroom.pictures.canvas import Canvas, Picture, Point, sentences
from headroom.pictures.load_curves import Curves, draw_key, draw_points, round_step
from headroom.pictures.log_curves import lines_of
from headroom.pictures.text_width import figure, width_of
from headroom.records.pictures import PublishedCurve, PublishedCurves
from headroom.records.published_rows import Table

_TALL: Final = 220.0
_LEFT: Final = 52.0
_TOP: Final = 26.0
_PREFIXES: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_AMOUNT: Final = re.compile(r"(\d+(?:\.\d+)?)([KMG]?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Axes:
    """The ends of the horizontal axis, the lines of the vertical one, and whether both are logarithmic."""

    x: tuple[float, float]
    lines: tuple[float, ...]
    logarithmic: bool

    def share(self, value: float, ends: tuple[float, float]) -> float:
        """Return how far along an axis a value is, from 0 to 1."""
        low, high = ends
        if self.logarithmic:
            return log10(value / low) / log10(high / low)
        return (value - low) / (high - low)


def picture(name: str, data: PublishedCurves, tables: Mapping[str, Table]) -> Picture:
    """Return the curves with their first and last point in words.

    Raises:
        LookupError: the rows, a column or the row of 100 % do not exist.
        ValueError: a cell is no number.
    """
    curves = {title: _points(curve, tables) for title, curve in data.curves.items()}
    words = (_described(title, curves[title], data) for title in curves)
    notes = [data.note] if data.note else []
    draw = partial(_draw, curves=curves, data=data, axes=_axes(curves, data))
    return Picture(name, data.title, sentences([*words, *notes]), draw)


def _points(curve: PublishedCurve, tables: Mapping[str, Table]) -> list[Point]:
    table = tables.get(curve.rows)
    if table is None:
        raise LookupError(f"there are no rows `{curve.rows}`")
    if unknown := {curve.x, curve.y, *curve.where} - {*table.columns}:
        raise LookupError(f"the rows have no column `{min(unknown)}`")
    rows = [row for row in table.rows if all(row[name] == cell for name, cell in curve.where.items())]
    whole = [_amount(row[curve.y]) for row in rows if row[curve.x] == curve.full]
    if len(rows) < 2 or (curve.full is not None and len(whole) != 1):  # noqa: PLR2004 - a curve has two ends
        raise LookupError(f"{len(rows)} rows match, and {len(whole)} of them count as 100 %")
    factor = 100 / whole[0] if whole else 1.0
    points = [(_amount(row[curve.x]), factor * _amount(row[curve.y])) for row in rows]
    return [point for point in points if curve.least is None or point[0] >= curve.least]


def _amount(cell: str) -> float:
    found = _AMOUNT.fullmatch(cell)
    if found is None:
        raise ValueError(f"`{cell}` is no number")
    return float(found[1]) * _PREFIXES[found[2]]


def _axes(curves: Curves, data: PublishedCurves) -> Axes:
    points = [point for each in curves.values() for point in each]
    x = (min(x for x, _ in points), max(x for x, _ in points))
    if data.logarithmic:
        return Axes(x, lines_of([y for _, y in points]), logarithmic=True)
    most = max(y for _, y in points)
    step = round_step(most) / 2
    return Axes(x, tuple(tick * step for tick in range(ceil(most / step) + 1)), logarithmic=False)


def _described(title: str, points: list[Point], data: PublishedCurves) -> str:
    (low, first), (high, last) = points[0], points[-1]
    return f"{title}, in {data.y}: {figure(first)} at {figure(low)}, {figure(last)} at {figure(high)} ({data.x})"


def _draw(canvas: Canvas, curves: Curves, data: PublishedCurves, axes: Axes) -> None:
    canvas.text((0, 13), data.y, "b")
    wide = canvas.width - _LEFT - 30

    def at(x: float, y: float) -> Point:
        down = 1 - axes.share(y, (axes.lines[0], axes.lines[-1]))
        return _LEFT + wide * axes.share(x, axes.x), _TOP + _TALL * down

    _grid(canvas, data, axes, at)
    draw_points(canvas, curves, at)
    canvas.text((_LEFT + wide + 12, _TOP + _TALL + 32), data.x, "s m", "end")
    y = draw_key(canvas, curves, _TOP + _TALL + 38)
    if data.note:
        canvas.paragraph((0, y + 14), data.note, canvas.width, "s m")


def _grid(canvas: Canvas, data: PublishedCurves, axes: Axes, at: Callable[[float, float], Point]) -> None:
    """Draw the lines of the vertical axis and the marks of the horizontal one."""
    for value in axes.lines:
        y = at(axes.x[0], value)[1]
        canvas.line((_LEFT, y), (at(axes.x[1], value)[0], y), "tk")
        canvas.text((_LEFT - 6, y + 4), figure(value), "s m", "end")
    for label, value in data.ticks.items():
        x, half = at(value, axes.lines[0])[0], width_of(label, "s m") / 2
        canvas.line((x, _TOP + _TALL), (x, _TOP + _TALL + 4), "tk")
        canvas.text((min(x, canvas.width - half), _TOP + _TALL + 16), label, "s m", "mid")

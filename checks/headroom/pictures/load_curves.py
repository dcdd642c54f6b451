"""Draw curves over the load of a server, such as latency against requests per second, from printed points."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import floor, log10
from typing import Final

from headroom.pictures.canvas import Canvas, Picture, Point, polyline, sentences
from headroom.pictures.printed_rows import rows_of
from headroom.pictures.text_width import coordinate, figure
from headroom.records.pictures import LoadCurves

_TALL: Final = 220.0
_LEFT: Final = 40.0
_TICKS: Final = 4
_APART: Final = 12.0
_LINES: Final = ("tl", "am dash", "in")
Curves = dict[str, list[Point]]


def picture(name: str, data: LoadCurves, output: str) -> Picture:
    """Return the curves with their first and last point in words.

    Raises:
        LookupError: the snippet printed no row of a curve.
        ValueError: a row is not two numbers, or the points are not in the order of the load.
    """
    curves = {title: [_point(row) for row in rows_of(output, rows)] for title, rows in data.curves.items()}
    for points in curves.values():
        if any(b[0] <= a[0] for a, b in pairwise(points)):
            raise ValueError("the points of a curve are not in the order of the load; print them in order")
    words = (_described(title, points, data) for title, points in curves.items())
    notes = [data.note] if data.note else []
    return Picture(name, data.title, sentences([*words, *notes]), partial(_draw, curves=curves, data=data))


def _point(row: Sequence[str]) -> Point:
    x, y = map(float, row)
    return x, y


def _described(title: str, points: Sequence[Point], data: LoadCurves) -> str:
    (low, first), (high, last) = points[0], points[-1]
    return f"{title}, in {data.y}: {figure(first)} at {figure(low)}, {figure(last)} at {figure(high)} {data.x}"


def _draw(canvas: Canvas, curves: Curves, data: LoadCurves) -> None:
    points = [point for each in curves.values() for point in each]
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    step = round_step(max(y for _, y in points))
    most = step * _TICKS
    canvas.text((0, 13), data.y, "b")
    top, wide = 26.0, canvas.width - _LEFT - 30

    def at(x: float, y: float) -> Point:
        return _LEFT + wide * (x - left) / (right - left), top + _TALL * (1 - y / most)

    for tick in range(_TICKS + 1):
        canvas.line(at(left, tick * step), at(right, tick * step), "tk")
        canvas.text((_LEFT - 6, at(left, tick * step)[1] + 4), figure(tick * step), "s m", "end")
    for x in (left, (left + right) / 2, right):
        canvas.text((at(x, 0)[0], top + _TALL + 16), figure(x), "s m", "mid")
    canvas.text((at(right, 0)[0] + 12, top + _TALL + 32), data.x, "s m", "end")
    draw_points(canvas, curves, at)
    y = draw_key(canvas, curves, top + _TALL + 38)
    if data.note:
        canvas.paragraph((0, y + 14), data.note, canvas.width, "s m")


def round_step(most: float) -> float:
    """Return the round distance between lines of which a few reach the largest value."""
    unit: float = 10.0 ** floor(log10(most / _TICKS))
    return next(unit * each for each in (1, 2, 2.5, 5, 10) if unit * each * _TICKS >= most)


def draw_points(canvas: Canvas, curves: Curves, at: Callable[[float, float], Point]) -> None:
    """Draw each curve with a diamond per point, and the value of its last one if it is not on another's."""
    labelled: list[float] = []
    for line, points in zip(_LINES, curves.values(), strict=False):
        canvas.path(polyline([at(*point) for point in points]), line)
        for point in points:
            x, y = at(*point)
            canvas.path(f"M{coordinate(x)} {coordinate(y - 4)}l4 4l-4 4l-4-4z", "mark")
        x, y = at(*points[-1])
        if all(abs(y - other) > _APART for other in labelled):
            labelled.append(y)
            canvas.text((x - 8, y - 4), figure(points[-1][1]), "s b halo", "end")


def draw_key(canvas: Canvas, curves: Curves, y: float) -> float:
    """Name the curves and return the last baseline."""
    for line, name in zip(_LINES, curves, strict=False):
        y += 18
        canvas.line((0, y - 4), (28, y - 4), line)
        canvas.text((36, y), name)
    return y + 6

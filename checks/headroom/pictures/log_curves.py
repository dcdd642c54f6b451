"""Draw formulas of one variable on logarithmic axes, with their values at named places."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from math import ceil, floor, log10
from typing import Final

from headroom.pages.calculations import Source
from headroom.pictures.canvas import Canvas, Picture, Point, polyline, sentences
from headroom.pictures.formulas import Formulas
from headroom.pictures.text_width import coordinate, figure, width_of
from headroom.records.pictures import Curves

_TALL: Final = 230.0
_LEFT: Final = 52.0
_LEVEL: Final = 16.0
_SAMPLES: Final = 48
_APART: Final = 12.0
_NEAR: Final = 100.0
"""Below this ratio of the ends, an axis has lines at 1, 2 and 5, else at powers of ten."""
_LINES: Final = ("tl", "am dash", "in")


@dataclass(frozen=True, slots=True)
class Axes:
    """Logarithmic axes, and the named places and curves to draw on them."""

    places: dict[str, float]
    curves: dict[str, Callable[[float], float]]
    x: tuple[float, float]
    lines: tuple[float, ...]
    """The values of y that have a line, from the lower to the upper end of the axis."""


def picture(name: str, data: Curves, source: Source) -> Picture:
    """Return the curves with their values at each place in words."""
    axes = _axes(data, source)
    words = (_described(place, axes, data.y) for place in axes.places)
    notes = [data.note] if data.note else []
    return Picture(name, data.title, sentences([*words, *notes]), partial(_draw, axes=axes, data=data))


def _axes(data: Curves, source: Source) -> Axes:
    lets = Formulas(data.let, source)
    places = {name: lets.value(str(text)) for name, text in data.places.items()}

    def curve(text: str) -> Callable[[float], float]:
        return cache(lambda x: Formulas({**data.let, "X": x}, source).value(text))

    curves = {name: curve(text) for name, text in data.curves.items()}
    x = (min(places.values()) / 1.6, max(places.values()) * 1.6)
    return Axes(places, curves, x, lines_of([value(each) for value in curves.values() for each in _steps(x)]))


def _steps(x: tuple[float, float]) -> list[float]:
    """Return the values of x at which a curve is computed."""
    low, high = x
    return [low * (high / low) ** (i / _SAMPLES) for i in range(_SAMPLES + 1)]


def lines_of(found: list[float]) -> tuple[float, ...]:
    """Return lines from below the least to above the greatest value."""
    low, high = min(found) * 1.001, max(found) / 1.001
    factors = (1, 2, 5) if high / low < _NEAR else (1,)
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    lines = sorted(factor * 10.0**decade for decade in decades for factor in factors)
    below, above = max(each for each in lines if each <= low), min(each for each in lines if each >= high)
    return tuple(each for each in lines if below <= each <= above)


def _described(place: str, axes: Axes, y: str) -> str:
    values = (f"{figure(curve(axes.places[place]))} with {name}" for name, curve in axes.curves.items())
    return f"{place}: {y} {', '.join(values)}"


def _draw(canvas: Canvas, axes: Axes, data: Curves) -> None:
    canvas.text((0, 13), data.y, "b")
    top = 32 + _LEVEL * len(axes.places)
    right = canvas.width - 12
    wide, tall = (log10(axes.x[1] / axes.x[0]), log10(axes.lines[-1] / axes.lines[0]))

    def at(x: float, y: float) -> Point:
        return (
            _LEFT + (right - _LEFT) * log10(x / axes.x[0]) / wide,
            top + _TALL * (1 - log10(y / axes.lines[0]) / tall),
        )

    _grid(canvas, axes, at)
    _places(canvas, axes, at)
    _curves(canvas, axes, at)
    bottom = top + _TALL
    canvas.text((right, bottom + 16), data.x, "s m", "end")
    y = _key(canvas, axes, bottom + 26)
    if data.note:
        canvas.paragraph((0, y + 14), data.note, canvas.width, "s m")


def _grid(canvas: Canvas, axes: Axes, at: Callable[[float, float], Point]) -> None:
    """Draw the lines of the vertical axis."""
    for value in axes.lines:
        x, y = at(axes.x[0], value)
        canvas.line((x, y), (at(axes.x[1], value)[0], y), "tk")
        canvas.text((_LEFT - 6, y + 4), figure(value), "s m", "end")


def _places(canvas: Canvas, axes: Axes, at: Callable[[float, float], Point]) -> None:
    """Draw a line per place, each with its name on a level of its own."""
    for level, (name, value) in enumerate(sorted(axes.places.items(), key=lambda each: each[1])):
        x, top = at(value, axes.lines[-1])
        y = top - 18 - _LEVEL * (len(axes.places) - 1 - level)
        half = width_of(name, "s b") / 2
        middle = min(max(x, half), canvas.width - half - 2)
        canvas.line((x, y + 3), (x, at(value, axes.lines[0])[1]), "mu dash")
        canvas.text((middle, y), name, "s b halo", "mid")


def _curves(canvas: Canvas, axes: Axes, at: Callable[[float, float], Point]) -> None:
    """Draw each curve with an open diamond, and its value if it is not on another's, at each place."""
    for curve, line in zip(axes.curves.values(), _LINES, strict=False):
        canvas.path(polyline([at(each, curve(each)) for each in _steps(axes.x)]), line)
    for value in axes.places.values():
        labelled: list[float] = []
        for curve in axes.curves.values():
            x, y = at(value, curve(value))
            canvas.path(f"M{coordinate(x)} {coordinate(y - 5)}l5 5l-5 5l-5-5z", "mark")
            if all(abs(y - other) > _APART for other in labelled):
                labelled.append(y)
                canvas.text((x + 8, y - 4), figure(curve(value)), "s b halo")


def _key(canvas: Canvas, axes: Axes, y: float) -> float:
    """Name the curves and return the last baseline."""
    for line, name in zip(_LINES, axes.curves, strict=False):
        y += 18
        canvas.line((0, y - 4), (28, y - 4), line)
        canvas.text((36, y), name)
    return y + 6

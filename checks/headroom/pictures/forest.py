"""Draw the ratios of claims on a logarithmic axis: disagreement between sources stays visible."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.text_width import coordinate

_TICKS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6)
_SHAPES = ("measured", "reported", "predicted")


@dataclass(frozen=True, slots=True)
class Ratio:
    """One claim's ratio on one machine: how it is known, its words, its range and how many runs it has."""

    kind: str
    name: str
    where: str
    low: float
    middle: float
    high: float
    runs: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Ratios that share an axis."""

    title: str
    ratios: tuple[Ratio, ...]


def picture(name: str, title: str, panels: Sequence[Panel]) -> Picture:
    """Return the panels with every ratio in words."""
    words = (f"{panel.title}: {'; '.join(map(_described, panel.ratios))}" for panel in panels)
    return Picture(name, title, sentences(words), partial(_draw, panels=panels))


def _described(ratio: Ratio) -> str:
    spread = f" ({ratio.low:.2f} to {ratio.high:.2f})" if ratio.high > ratio.low else ""
    return f"{ratio.kind}, {ratio.name}, {ratio.where}: {ratio.middle:.2f}{spread}, {ratio.runs}"


def _draw(canvas: Canvas, panels: Sequence[Panel]) -> None:
    y = 0.0
    for panel in panels:
        y = _panel(canvas, panel, y) + 24
    x = 0.0
    for kind in [each for each in _SHAPES if any(row.kind == each for panel in panels for row in panel.ratios)]:
        _mark(canvas, kind, x + 6, y + 6)
        canvas.text((x + 18, y + 10), kind, "s m")
        x += 92
    words = "Mark: the median. Line: the range of all runs. A mark without a line is one run, so its spread is unknown."
    canvas.paragraph((0, y + 30), words, canvas.width, "s m")


def _panel(canvas: Canvas, panel: Panel, y: float) -> float:
    """Draw one axis with its rows and return where it ends."""
    low = min(1.0, *(each.low for each in panel.ratios)) * 0.92
    high = max(1.0, *(each.high for each in panel.ratios)) * 1.08
    width = canvas.width - 50

    def at(ratio: float) -> float:
        return width * math.log(ratio / low) / math.log(high / low)

    canvas.text((0, y + 13), panel.title, "h1")
    top, bottom = y + 22, y + 22 + 42 * len(panel.ratios)
    for tick in (each for each in _TICKS if low <= each <= high):
        for row in range(len(panel.ratios)):  # below each row's label, which a continuous line would cross
            y1 = top + 42 * row + 18
            canvas.line((at(tick), y1), (at(tick), y1 + 24), "ln" if tick == 1 else "tk")
        canvas.text((max(at(tick), 14), bottom + 14), f"{tick:g}×", "s m", "mid")
    for index, ratio in enumerate(panel.ratios):
        _row(canvas, ratio, top + index * 42, at)
    return bottom + 16


def _row(canvas: Canvas, ratio: Ratio, y: float, at: Callable[[float], float]) -> None:
    words = f"{ratio.name} · {ratio.where}" + ("" if canvas.narrow else f" · {ratio.runs}")
    canvas.text((0, y + 14), words, "s halo")
    middle = y + 28
    if at(ratio.high) - at(ratio.low) > 12:  # noqa: PLR2004 - wider than the mark
        x1, x2 = coordinate(at(ratio.low)), coordinate(at(ratio.high))
        canvas.path(f"M{x1} {middle - 5:.1f}v10m0-5H{x2}m0-5v10", "in")
    _mark(canvas, ratio.kind, at(ratio.middle), middle)
    canvas.text((canvas.width, middle + 4), f"{ratio.middle:.2f}×", "b halo", "end")


def _mark(canvas: Canvas, kind: str, x: float, y: float) -> None:
    """Draw a disc for measured, an open square for reported, an open diamond for predicted."""
    shape = {
        "measured": f"M{coordinate(x)} {coordinate(y)}m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
        "reported": f"M{coordinate(x - 5)} {coordinate(y - 5)}h10v10h-10z",
        "predicted": f"M{coordinate(x)} {coordinate(y - 7)}l7 7l-7 7l-7-7z",
    }[kind]
    canvas.path(shape, f"mark {'full' if kind == 'measured' else ''}".strip())

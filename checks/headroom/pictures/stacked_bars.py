"""Draw memory by component as stacked bars, with lines for the memory of cards."""

from dataclasses import dataclass
from itertools import count

from headroom.pages.calculations import Source
from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.formulas import Formulas
from headroom.pictures.svg_style import COMPONENTS
from headroom.pictures.text_width import figure, width_of
from headroom.records.pictures import Bars

_SHORT = {"optimizer states": "states", "gradients": "grads", "saved activations": "activations", "temporaries": "temp"}
_TALL, _LABEL = 18, 18
_UNNAMED = "rate"
"""The part whose name a bar need not show: the title of the picture says it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A bar with the size of each component."""

    name: str
    parts: dict[str, float]

    @property
    def total(self) -> float:
        """The sum of all components."""
        return sum(self.parts.values())


@dataclass(frozen=True, slots=True)
class Panel:
    """Bars under one title, with lines at the same scale."""

    title: str
    rows: tuple[Row, ...]
    lines: dict[str, float]

    @property
    def end(self) -> float:
        """The size at which the drawing ends: of the largest bar or line, but not far beyond all lines."""
        most = max((*(row.total for row in self.rows), *self.lines.values()))
        return min(most, 1.2 * max(self.lines.values())) if self.lines else most


def panels(data: Bars, source: Source) -> list[Panel]:
    """Evaluate all formulas of the bars."""
    found = []
    for title, lets in (data.panels or {"": {}}).items():
        formulas = Formulas({**data.let, **lets}, source)
        rows = tuple(
            Row(bar.name, {name: size for name, text in bar.parts.items() if (size := formulas.value(text, data.unit))})
            for bar in data.bars
        )
        found.append(Panel(title, rows, {name: formulas.value(text, data.unit) for name, text in data.lines.items()}))
    return found


def picture(name: str, data: Bars, source: Source) -> Picture:
    """Return the bars with their figures in words."""
    found = panels(data, source)
    return Picture(name, data.title, sentences(_described(found, data)), lambda canvas: _draw(canvas, found, data))


def _described(found: list[Panel], data: Bars) -> list[str]:
    rows = []
    for panel in found:
        place = f"{panel.title}, " if panel.title else ""
        for row in panel.rows:
            parts = ", ".join(f"{name} {figure(size)}" for name, size in row.parts.items() if name != _UNNAMED)
            named = f" ({parts})" if parts else ""
            rows.append(f"{place}{row.name}: {figure(row.total)} {data.unit}{named}{_fits(row, panel)}")
    return [*rows, *([data.note] if data.note else [])]


def _fits(row: Row, panel: Panel) -> str:
    """Return the smallest line that a bar stays below, in words."""
    if not panel.lines:
        return ""
    below = [name for name, size in sorted(panel.lines.items(), key=lambda each: each[1]) if row.total <= size]
    return f", below {below[0]}" if below else f", above {max(panel.lines, key=lambda each: panel.lines[each])}"


def _draw(canvas: Canvas, found: list[Panel], data: Bars) -> None:
    y, named = 0.0, {_UNNAMED}
    end = max(panel.end for panel in found)
    for panel in found:
        y = _panel(canvas, panel, (y, end), data.unit, named) + 18
    used = {name for panel in found for row in panel.rows for name in row.parts}
    y = _legend(canvas, [name for name in COMPONENTS if name in used - named], y - 8)
    if data.note:
        canvas.paragraph((0, y + 12), data.note, canvas.width, "s m")


def _panel(canvas: Canvas, panel: Panel, place: tuple[float, float], unit: str, named: set[str]) -> float:
    """Draw one panel from a height to the end of the scale, and return where it ends.

    ``named`` gets the components whose name fits into a bar.
    """
    y, end = place
    if panel.title:
        canvas.text((0, y + 13), panel.title, "h1")
        y += 20
    scale = (canvas.width - 14) / end
    y = _lines(canvas, panel, y, scale)
    for row in panel.rows:
        _bar(canvas, row, (y, scale, end), unit, named)
        y += _TALL + 27
    return y


def _lines(canvas: Canvas, panel: Panel, y: float, scale: float) -> float:
    """Draw the lines of the cards behind the bars and return where the bars begin."""
    labels = _labels(panel.lines, scale, canvas.width)
    top = y + _LABEL * (1 + max((level for _, _, level in labels), default=-1))
    bottom = top + len(panel.rows) * (_TALL + 27)
    for (name, size), (middle, _, level) in zip(panel.lines.items(), labels, strict=True):
        canvas.line((size * scale, top - _LABEL * level - 2), (size * scale, bottom), "mu dash")
        canvas.text((middle, top - _LABEL * level - 6), name, "s b", "mid")
    return top


def _labels(lines: dict[str, float], scale: float, width: float) -> list[tuple[float, float, int]]:
    """Return the middle, the right end and the level of each label, on the lowest level where it has room."""
    found: list[tuple[float, float, int]] = []
    for name, size in lines.items():
        half = width_of(name, "s b") / 2
        middle = min(size * scale, width - half)
        taken = {level for _, end, level in found if middle - half < end + 6}
        found.append((middle, middle + half, next(level for level in count() if level not in taken)))
    return found


def _bar(canvas: Canvas, row: Row, place: tuple[float, float, float], unit: str, named: set[str]) -> None:
    y, scale, end = place
    said = f"{figure(row.total)} {unit}"
    canvas.text((0, y + 14), row.name, "halo")
    canvas.text((width_of(row.name) + 8, y + 14), said, "b halo")
    x, over = 0.0, row.total > end
    for name, size in row.parts.items():
        w = min(size * scale, end * scale - x - (12 if over else 0))
        if w > 0.4:  # noqa: PLR2004 - thinner is not visible
            canvas.rect(x, y + 20, (w, _TALL), fill=COMPONENTS[name])
            if name != _UNNAMED:
                _name(canvas, name, (x, y + 33, w), named)
        x += max(w, 0)
    if over:
        canvas.path(f"M{x + 2:.1f} {y + 20:.1f}l5 9l-5 9M{x + 7:.1f} {y + 20:.1f}l5 9l-5 9", "ln")


def _name(canvas: Canvas, name: str, place: tuple[float, float, float], named: set[str]) -> None:
    """Write a component's name into its stretch if it fits."""
    x, y, w = place
    for words in (name, _SHORT.get(name, name)):
        if width_of(words, "s") + 6 <= w:
            canvas.text((x + w / 2, y), words, "s halo", "mid")
            named.add(name)
            return


def _legend(canvas: Canvas, names: list[str], y: float) -> float:
    """Name the components that no bar had room for."""
    x = 0.0
    for name in names:
        if x + 24 + width_of(name, "s") > canvas.width:
            x, y = 0, y + 20
        canvas.rect(x, y + 4, (14, 12), fill=COMPONENTS[name])
        canvas.text((x + 20, y + 14), name, "s m")
        x += 36 + width_of(name, "s")
    return y + 20 if names else y

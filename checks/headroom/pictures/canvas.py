"""The canvas that every picture is drawn on, and the SVG with its two layouts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

from headroom.pictures import svg_style
from headroom.pictures.text_width import coordinate, wrap

NARROW: Final = 328
WIDE: Final = 688
_SWITCH: Final = 500
Point = tuple[float, float]


@dataclass
class Canvas:
    """A drawing of fixed width. Its height follows what is drawn."""

    name: str
    width: float
    parts: list[str] = field(default_factory=list)
    height: float = 0
    used: set[str] = field(default_factory=set)

    @property
    def narrow(self) -> bool:
        """Whether this is the layout for a phone."""
        return self.width < _SWITCH

    def _add(self, tag: str, cls: str, inner: str = "", **at: float | str) -> None:
        pairs = "".join(f' {key}="{coordinate(v) if isinstance(v, int | float) else v}"' for key, v in at.items())
        named = f' class="{cls}"' if cls else ""
        self.parts.append(f"<{tag}{named}{pairs}>{inner}</{tag}>" if inner else f"<{tag}{named}{pairs}/>")

    def rect(self, x: float, y: float, size: Point, cls: str = "box", *, fill: str = "") -> None:
        """Draw a rectangle, filled with a component's pattern if one is named."""
        w, h = max(size[0], 0), max(size[1], 0)
        self.path(f"M{coordinate(x)} {coordinate(y)}h{coordinate(w)}v{coordinate(h)}h{coordinate(-w)}z", cls, fill)
        self.height = max(self.height, y + h)

    def path(self, d: str, cls: str, fill: str = "") -> None:
        """Draw a path."""
        if fill:
            self.used.add(fill)
            cls = f"p-{fill} {'' if cls == 'box' else cls}".strip()
        self._add("path", cls, d=d)

    def thick(self, d: str, fill: str) -> None:
        """Draw horizontal lines 14 px thick in a pattern: many small boxes in few characters."""
        self.used.add(fill)
        self._add("path", "cells", style=f"stroke:url(#{self.name}-{fill})", d=d)

    def line(self, start: Point, end: Point, cls: str = "ln") -> None:
        """Draw a straight line."""
        self.path("M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in (start, end)), cls)
        self.height = max(self.height, start[1], end[1])

    def text(self, at: Point, words: str, cls: str = "", anchor: str = "") -> None:
        """Write one line; ``at`` is its baseline, and ``anchor`` is empty, ``mid`` or ``end``."""
        self._add("text", f"{cls} {anchor}".strip(), escape(words, quote=False), x=at[0], y=at[1])
        self.height = max(self.height, at[1] + 4)

    def paragraph(self, at: Point, words: str, width: float, cls: str = "", leading: float = 14) -> float:
        """Write a paragraph and return the baseline of the line after it."""
        x, y = at
        for row in wrap(words, width, cls):
            self.text((x, y), row, cls)
            y += leading
        return y

    def letters(self, xs: Sequence[float], y: float, characters: str, cls: str = "s") -> None:
        """Write one character at each place, as one element; each x is a left edge and y the baseline."""
        self._add("text", cls, escape(characters, quote=False), x=" ".join(map(coordinate, xs)), y=y)
        self.height = max(self.height, y + 4)

    def arrow(self, start: Point, end: Point, cls: str = "ln") -> None:
        """Draw a vertical or a horizontal arrow."""
        length = abs(end[0] - start[0]) + abs(end[1] - start[1])
        ux, uy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
        back = (end[0] - 7 * ux, end[1] - 7 * uy)
        self.line(start, back, cls)
        wings = [(back[0] + 3.5 * side * uy, back[1] + 3.5 * side * ux) for side in (-1, 1)]
        self.path(f"{polyline([end, *wings])}z", "head")
        self.height = max(self.height, end[1])


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: its name, its title, what it shows in words, and how to draw it at a width."""

    name: str
    title: str
    description: str
    draw: Callable[[Canvas], None]


def svg(picture: Picture) -> str:
    """Return one SVG with both layouts, on one line so that Markdown leaves it alone."""
    ident = f"picture-{picture.name}"
    layouts = {"narrow": Canvas(ident, NARROW), "wide": Canvas(ident, WIDE)}
    for canvas in layouts.values():
        picture.draw(canvas)
    used = sorted(set[str]().union(*(canvas.used for canvas in layouts.values())))
    drawn = "".join(_layout(kind, canvas) for kind, canvas in layouts.items())
    patterns = "".join(svg_style.pattern(ident, each) for each in used)
    return (
        f'<svg class="picture" id="{ident}" role="img" xmlns="http://www.w3.org/2000/svg" '
        f'aria-labelledby="{ident}-title" aria-describedby="{ident}-desc">'
        f'<title id="{ident}-title">{escape(picture.title)}</title>'
        f'<desc id="{ident}-desc">{escape(picture.description)}</desc>'
        f"<style>{svg_style.style(ident, used, drawn)}{_sizes(ident, layouts)}</style>"
        f"<defs>{patterns}</defs>{drawn}</svg>"
    )


def _layout(kind: str, canvas: Canvas) -> str:
    box = f"0 0 {canvas.width:g} {coordinate(canvas.height + 4)}"
    return f'<svg class="{kind}" viewBox="{box}">{"".join(canvas.parts)}</svg>'


def _sizes(ident: str, layouts: dict[str, Canvas]) -> str:
    """Return the rules that show one of the layouts, each in its own shape."""
    shape = {kind: f"aspect-ratio:{each.width:g}/{coordinate(each.height + 4)}" for kind, each in layouts.items()}
    return (
        f"#{ident}{{display:block;margin:auto;width:100%;max-width:440px;{shape['narrow']}}}"
        f"#{ident} .wide{{display:none}}"
        f"@media(min-width:40em){{#{ident}{{max-width:720px;{shape['wide']}}}#{ident} .wide{{display:inline}}"
        f"#{ident} .narrow{{display:none}}}}"
    )


def polyline(points: Sequence[Point]) -> str:
    """Return the path through points."""
    return "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points)


def sentences(parts: Iterable[str]) -> str:
    """Join the sentences of a description."""
    return " ".join(part.rstrip(".") + "." for part in parts)

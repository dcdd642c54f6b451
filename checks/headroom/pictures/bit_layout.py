"""Draw the bits of number formats: sign, exponent and mantissa, to one scale."""

from functools import partial

from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.text_width import width_of
from headroom.records.pictures import NumberFormat, NumberFormats

_TALL = 22
_PARTS = (("sign", "x"), ("exponent", "o"), ("mantissa", "a"))


def picture(name: str, data: NumberFormats) -> Picture:
    """Return the formats with their bits in words."""
    words = (f"{each.name}: {_bits(each)} bits. {each.note}" for each in data.formats)
    return Picture(name, data.title, sentences(words), partial(_draw, data=data))


def _sizes(found: NumberFormat) -> tuple[int, int, int]:
    return found.sign, found.exponent, found.mantissa


def _bits(found: NumberFormat) -> str:
    parts = zip(_sizes(found), _PARTS, strict=True)
    return f"{sum(_sizes(found))} ({', '.join(f'{size} {part[0]}' for size, part in parts if size)})"


def _draw(canvas: Canvas, data: NumberFormats) -> None:
    """Draw one row per format: its name above its bits, and what it holds below them."""
    cell = canvas.width / max(sum(_sizes(each)) for each in data.formats) - 0.1
    x, y = 0.0, 0.0
    for name, fill in _PARTS:
        canvas.rect(x, y, (14, 12), fill=fill)
        canvas.text((x + 20, y + 10), name, "s m")
        x += 34 + width_of(name, "s")
    y += 24
    for each in data.formats:
        y = _format(canvas, each, cell, y)


def _format(canvas: Canvas, each: NumberFormat, cell: float, y: float) -> float:
    """Draw a format and return where it ends."""
    canvas.text((0, y + 13), each.name, "h1")
    canvas.text((width_of(each.name, "h1") + 10, y + 13), f"{sum(_sizes(each))} bits", "s m")
    x = 0.0
    for size, (_, fill) in zip(_sizes(each), _PARTS, strict=True):
        for _ in range(size):
            canvas.rect(x, y + 20, (cell, _TALL), fill=fill)
            x += cell
        if size > 1:
            canvas.text((x - size * cell / 2, y + 35), str(size), "s b halo", "mid")
    return canvas.paragraph((0, y + 57), each.note, canvas.width, "s m") + 2

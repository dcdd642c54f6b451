"""Measure and wrap the text of drawings, in the widest of the fonts that the site asks for."""

from functools import lru_cache
from typing import Final

_REGULAR: Final = (
    "32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 53 100 68 69 "
    "70 77 63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 84 50 50 61 63 55 63 62 "
    "35 63 63 28 28 58 28 97 63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 64 84"
)
"""The widths of the characters from blank to tilde, in hundredths of an em."""
EMS: Final = [int(value) / 100 for value in _REGULAR.split()]
"""The same widths in em."""
_SIZES: Final = {"s": 11, "code": 11, "h1": 13}
_BOLD: Final = 1.12


@lru_cache(maxsize=1 << 16)
def width_of(text: str, cls: str = "") -> float:
    """Return how many pixels wide a text of these classes can get."""
    names = cls.split()
    size = next((_SIZES[name] for name in names if name in _SIZES), 12)
    if "code" in names:
        return len(text) * 0.61 * size
    ems = sum(EMS[ord(c) - 32] if 32 <= ord(c) < 127 else 0.7 for c in text)  # noqa: PLR2004 - printable ASCII
    return ems * size * (_BOLD if {"b", "h1"} & set(names) else 1.0)


def wrap(text: str, width: float, cls: str = "") -> list[str]:
    """Break a text into lines that fit a width."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and width_of(f"{lines[-1]} {word}", cls) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def coordinate(value: float) -> str:
    """Write a coordinate with at most one decimal."""
    return f"{round(value, 1):g}"


def figure(value: float) -> str:
    """Write a figure for a label: 0.54, 7.8, 33, 1,024."""
    if value >= 99.5:  # noqa: PLR2004 - three digits
        return f"{value:,.0f}"
    return f"{value:.2g}" if value < 1 else f"{value:.1f}".removesuffix(".0")

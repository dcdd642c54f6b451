"""Convert units, and find and format the figures in a text."""

import re
from dataclasses import dataclass
from typing import Final

# Each unit's kind, and its size in the base unit of that kind.
UNITS: Final[dict[str, tuple[str, float]]] = {
    "s": ("time", 1.0),
    "ms": ("time", 1e-3),
    "µs": ("time", 1e-6),
    "B": ("bytes", 1.0),
    "kB": ("bytes", 1e3),
    "MB": ("bytes", 1e6),
    "GB": ("bytes", 1e9),
    "KiB": ("bytes", 2.0**10),
    "MiB": ("bytes", 2.0**20),
    "GiB": ("bytes", 2.0**30),
    "tokens/s": ("rate", 1.0),
    "samples/s": ("rate", 1.0),
    "images/s": ("rate", 1.0),
    "1": ("number", 1.0),
    "parameter": ("number", 1.0),
    "×": ("number", 1.0),
    "%": ("number", 1e-2),
}

_FIGURE = re.compile(
    r"(?<![\w.,-])(?P<sign>[+\u2212-]?)(?P<digits>(?>(?:\d{1,3}(?:,\d{3})++|\d++)(?:\.\d++)?+))"
    r"(?P<power>e[+-]?\d{1,3})?"
    r"(?P<space>[ \u00a0\u202f]?)(?P<unit>tokens/s|samples/s|images/s|KiB|MiB|GiB|kB|MB|GB|ms|µs|[sB×%])?(?![\w/])"
)


def convert(value: float, unit: str, to: str) -> float:
    """Convert a value to another unit of the same kind.

    Raises:
        ValueError: a unit is unknown, or the two units are of different kinds.
    """
    for name in (unit, to):
        if name not in UNITS:
            raise ValueError(f"unknown unit `{name}`; use one of {', '.join(UNITS)}")
    if UNITS[unit][0] != UNITS[to][0]:
        raise ValueError(f"`{unit}` cannot be converted to `{to}`")
    return value * UNITS[unit][1] / UNITS[to][1]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure found in a text: its sign, precision, thousands separators and unit."""

    text: str
    start: int
    signed: bool
    decimals: int
    grouped: bool
    space: str
    unit: str | None
    scientific: bool = False
    """Whether the text uses scientific notation, as ``1.5e-7``."""

    @classmethod
    def find(cls, text: str) -> "Figure | None":
        """Return the only figure in a text; None if there is no figure or more than one."""
        matches = list(_FIGURE.finditer(text))
        if len(matches) != 1:
            return None
        match = matches[0]
        digits = match["digits"]
        return cls(
            text=match[0],
            start=match.start(),
            signed=match["sign"] == "+",
            decimals=len(digits.partition(".")[2]),
            grouped="," in digits or ("." not in digits and len(digits) < 4),  # noqa: PLR2004 - 999 needs no separator
            space=match["space"] if match["unit"] else "",
            unit=match["unit"],
            scientific=match["power"] is not None,
        )

    def written(self, value: float, unit: str) -> str:
        """Format a value like this figure: with its unit, precision, sign and separators.

        Raises:
            ValueError: the value's unit cannot be converted to the figure's unit.
        """
        return f"{self.number(convert(value, unit, self.unit or '1'))}{self.space}{self.unit or ''}"

    def number(self, number: float) -> str:
        """Format a number like this figure: with its precision, sign and separators, without a unit."""
        if self.scientific:
            body = re.sub(r"e([+-])0(?=\d$)", r"e\1", f"{abs(number):.{self.decimals}e}").replace("e+", "e")
            rounded = number
        else:
            body = f"{abs(number):{',' if self.grouped else ''}.{self.decimals}f}"
            rounded = float(f"{number:.{self.decimals}f}")
        sign = "\u2212" if rounded < 0 else "+" if self.signed and number > 0 else ""
        return f"{sign}{body}"


def human_readable(value: float, unit: str) -> str:
    """Format a value for readers: three significant digits, in the unit of its kind that keeps it near one.

    Raises:
        ValueError: the unit is unknown.
    """
    if unit == "B":
        unit, scale = next(((u, UNITS[u][1]) for u in ("GiB", "MiB", "KiB") if abs(value) >= UNITS[u][1]), ("B", 1.0))
    elif unit == "s":
        unit, scale = next(((u, UNITS[u][1]) for u in ("s", "ms") if abs(value) >= UNITS[u][1]), ("µs", 1e-6))
    else:
        scale = convert(1.0, unit, unit)
    number = value / scale
    digits = max(0, 2 - len(str(int(abs(number)))) + 1)
    return f"{number:,.{digits}f}" + ("" if unit == "1" else f" {unit}")

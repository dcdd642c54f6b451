"""Quantities: values with ranges and units, and arithmetic that refuses to mix units.

The library pint does more, but its import takes longer than the start of ``headroom check``.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final

from headroom.maths.units import UNITS

Powers = tuple[tuple[str, int], ...]
"""The base units of a unit in alphabetical order, each with its non-zero power."""

_BASES: Final = {"bytes": "B", "time": "s"}
_COUNTED: Final = ("token", "sequence", "parameter", "layer", "step", "number")
_FACTORS: Final[dict[str, tuple[str | None, float]]] = {
    **{name: (_BASES[kind], scale) for name, (kind, scale) in UNITS.items() if kind in _BASES},
    **{name: (None, scale) for name, (kind, scale) in UNITS.items() if kind == "number"},
    **{f"{prefix}FLOP": ("FLOP", scale) for prefix, scale in {"": 1.0, "G": 1e9, "T": 1e12, "P": 1e15}.items()},
    **{name: (base, 1.0) for base in _COUNTED for name in (base, f"{base}s")},
    "min": ("s", 60.0),
    "h": ("s", 3600.0),
    "bytes": ("B", 1.0),
    "TB": ("B", 1e12),
    "TiB": ("B", 2.0**40),
}
_MOST_FACTORS: Final = 8
_ANY = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its dimension as powers of base units, and its size in base units."""

    powers: Powers
    scale: float

    @classmethod
    def parse(cls, text: str) -> "Unit":
        """Parse a unit as a record writes it: ``B``, ``tokens/s``, ``B/parameter``, ``B/layer/token``, ``FLOP*s``.

        Raises:
            ValueError: a factor is not a known unit; the message lists the known units.
        """
        return _unit(text)


@lru_cache(maxsize=1024)
def _unit(text: str) -> Unit:
    factors = text.replace("*", "\0*").replace("/", "\0/").split("\0")
    if len(factors) > _MOST_FACTORS:
        raise ValueError(f"the unit has more than {_MOST_FACTORS} factors; write a simpler one")
    powers: dict[str, int] = {}
    scale = 1.0
    for factor in factors:
        power = -1 if factor.startswith("/") else 1
        base, size = _factor(factor.removeprefix("/").removeprefix("*").strip())
        scale *= size**power
        if base:
            powers[base] = powers.get(base, 0) + power
    return Unit(_in_order(powers.items()), scale)


def _factor(name: str) -> tuple[str | None, float]:
    if name not in _FACTORS:
        raise ValueError(f"unknown unit `{name}`; combine {', '.join(_FACTORS)} with * and /")
    return _FACTORS[name]


def _in_order(powers: Iterable[tuple[str, int]]) -> Powers:
    return tuple(sorted((base, power) for base, power in powers if power))


def named(powers: Powers) -> str:
    """Return a unit's name in base units: ``B/token``; ``1`` for a plain number."""
    above = [base for base, power in powers for _ in range(power)]
    below = [f"/{base}" for base, power in powers for _ in range(-power)]
    return ("*".join(above) or "1") + "".join(below)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in base units, its range and its unit."""

    value: float
    low: float
    high: float
    powers: Powers = ()

    @classmethod
    def of(cls, value: float, unit: str = "1", low: float | None = None, high: float | None = None) -> "Quantity":
        """Create a quantity from a value in a unit, with the ends of its range if there is one.

        Raises:
            ValueError: the unit is unknown, or the value is too large for a float.
        """
        found = Unit.parse(unit)
        ends = (value if low is None else low, value if high is None else high)
        return _made(value * found.scale, (ends[0] * found.scale, ends[1] * found.scale), found.powers)

    def to(self, unit: str) -> "Quantity":
        """Return the same quantity with value and range in another unit instead of base units.

        Raises:
            ValueError: the unit has another dimension, or is unknown.
        """
        found = Unit.parse(unit)
        if found.powers != self.powers:
            raise ValueError(f"its unit is `{named(self.powers)}`, which cannot be converted to `{unit}`")
        return _made(self.value / found.scale, (self.low / found.scale, self.high / found.scale), self.powers)

    def __add__(self, other: "Quantity") -> "Quantity":
        _alike((self, other), "added")
        return _made(self.value + other.value, (self.low + other.low, self.high + other.high), self.powers)

    def __sub__(self, other: "Quantity") -> "Quantity":
        _alike((self, other), "subtracted")
        return _made(self.value - other.value, (self.low - other.high, self.high - other.low), self.powers)

    def __neg__(self) -> "Quantity":
        return Quantity(-self.value, -self.high, -self.low, self.powers)

    def __mul__(self, other: "Quantity") -> "Quantity":
        powers = dict(self.powers)
        for base, power in other.powers:
            powers[base] = powers.get(base, 0) + power
        return _made(self.value * other.value, _ends(self, other, lambda a, b: a * b), _in_order(powers.items()))

    def __truediv__(self, other: "Quantity") -> "Quantity":
        if other.value == 0:
            raise ValueError("a division by zero")
        inverse = tuple((base, -power) for base, power in other.powers)
        ends = _ANY if other.low <= 0 <= other.high else (1 / other.high, 1 / other.low)
        found = self * Quantity(1 / other.value, *ends, inverse)
        return _made(
            self.value / other.value, (found.low, found.high), found.powers
        )  # one rounding, so that 49 / 49 is 1

    def power(self, exponent: int) -> "Quantity":
        """Return the quantity raised to an integer exponent."""
        found = Quantity(1.0, 1.0, 1.0)
        for _ in range(abs(exponent)):
            found *= self
        if exponent % 2 == 0 and found.low < 0:  # an even power is never negative
            found = Quantity(found.value, 0.0, found.high, found.powers)
        return Quantity(1.0, 1.0, 1.0) / found if exponent < 0 else found

    def rounded(self, towards: Callable[[float], float]) -> "Quantity":
        """Return the integer above or below.

        Raises:
            ValueError: the quantity has a unit, so what is an integer depends on the unit's size.
        """
        if self.powers:
            raise ValueError(f"only a number without a unit can be rounded, not `{named(self.powers)}`")
        low, high = (end if math.isinf(end) else towards(end) for end in (self.low, self.high))
        return _made(towards(self.value), (low, high), ())


def best(quantities: list[Quantity], choose: Callable[[Iterable[float]], float]) -> Quantity:
    """Return the smallest or the largest of the quantities, as ``min`` or ``max`` chooses.

    Raises:
        ValueError: their units differ in dimension.
    """
    _alike(quantities, "compared")
    value, low, high = (choose(getattr(each, end) for each in quantities) for end in ("value", "low", "high"))
    return _made(value, (low, high), quantities[0].powers)


def _alike(quantities: Iterable[Quantity], done: str) -> None:
    kinds = dict.fromkeys(named(each.powers) for each in quantities)
    if len(kinds) > 1:
        first, second, *_ = kinds
        raise ValueError(f"`{first}` and `{second}` cannot be {done}")


def _ends(a: Quantity, b: Quantity, combine: Callable[[float, float], float]) -> tuple[float, float]:
    """Return the least and the greatest value that two ranges can combine to."""
    found = [combine(x, y) for x, y in product((a.low, a.high), (b.low, b.high))]
    return _ANY if any(map(math.isnan, found)) else (min(found), max(found))


def _made(value: float, ends: tuple[float, float], powers: Powers) -> Quantity:
    if not math.isfinite(value):
        raise ValueError("the result is too large for a floating-point number")
    return Quantity(value, *(_ANY if any(map(math.isnan, ends)) else ends), powers)


def units() -> Iterator[str]:
    """Return the names that units are composed of."""
    return iter(_FACTORS)

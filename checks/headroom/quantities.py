"""Quantities: a value, the range that it may lie in, and what it counts. Arithmetic with them keeps units apart.

A library of units (pint) knows far more, and takes longer to import than ``headroom check`` takes to begin.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

from headroom.units import UNITS

Powers = tuple[tuple[str, int], ...]
"""What a unit is made of: base units in the order of their names, each with its power, which is never zero."""

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
    """A unit: what it counts, and how many of its base units it is."""

    powers: Powers
    scale: float

    @classmethod
    def parse(cls, text: str) -> "Unit":
        """A unit as a record writes it: ``B``, ``tokens/s``, ``B/parameter``, ``B/layer/token``, ``FLOP*s``.

        Raises:
            ValueError: it is made of something that is no unit; the message names those that there are.
        """
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
        return cls(_in_order(powers.items()), scale)


def _factor(name: str) -> tuple[str | None, float]:
    if name not in _FACTORS:
        raise ValueError(f"unknown unit `{name}`; units are made of {', '.join(_FACTORS)} by * and /")
    return _FACTORS[name]


def _in_order(powers: Iterable[tuple[str, int]]) -> Powers:
    return tuple(sorted((base, power) for base, power in powers if power))


def named(powers: Powers) -> str:
    """A unit in words, in base units: ``B/token``; ``1`` where nothing is counted."""
    above = [base for base, power in powers for _ in range(power)]
    below = [f"/{base}" for base, power in powers for _ in range(-power)]
    return ("*".join(above) or "1") + "".join(below)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in base units, the range that it may lie in, and what it counts."""

    value: float
    low: float
    high: float
    powers: Powers = ()

    @classmethod
    def of(cls, value: float, unit: str = "1", low: float | None = None, high: float | None = None) -> "Quantity":
        """A value in a unit, with the ends of its range where it has one.

        Raises:
            ValueError: there is no such unit, or the value is too large for a number.
        """
        found = Unit.parse(unit)
        ends = (value if low is None else low, value if high is None else high)
        return _made(value * found.scale, (ends[0] * found.scale, ends[1] * found.scale), found.powers)

    def to(self, unit: str) -> "Quantity":
        """The same in another unit: value and range in that unit, no longer in base units.

        Raises:
            ValueError: the unit counts something else, or there is no such unit.
        """
        found = Unit.parse(unit)
        if found.powers != self.powers:
            raise ValueError(f"it counts `{named(self.powers)}`, which cannot be written in `{unit}`")
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
        )  # rounded once, so that 49 / 49 is 1

    def power(self, exponent: int) -> "Quantity":
        """The product of so many of it, or the inverse of one."""
        found = Quantity(1.0, 1.0, 1.0)
        for _ in range(abs(exponent)):
            found *= self
        if exponent % 2 == 0 and found.low < 0:  # an even power of a range around zero is never below it
            found = Quantity(found.value, 0.0, found.high, found.powers)
        return Quantity(1.0, 1.0, 1.0) / found if exponent < 0 else found

    def rounded(self, towards: Callable[[float], float]) -> "Quantity":
        """The whole number above or below.

        Raises:
            ValueError: it has a unit, of which a part can be whole in another.
        """
        if self.powers:
            raise ValueError(f"only a plain number is rounded, not `{named(self.powers)}`")
        low, high = (end if math.isinf(end) else towards(end) for end in (self.low, self.high))
        return _made(towards(self.value), (low, high), ())


def best(quantities: list[Quantity], choose: Callable[[Iterable[float]], float]) -> Quantity:
    """The smallest or the largest of some quantities, as ``min`` or ``max`` chooses.

    Raises:
        ValueError: they count different things.
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
    """The least and the greatest that two ranges can make together."""
    found = [combine(x, y) for x, y in product((a.low, a.high), (b.low, b.high))]
    return _ANY if any(map(math.isnan, found)) else (min(found), max(found))


def _made(value: float, ends: tuple[float, float], powers: Powers) -> Quantity:
    if not math.isfinite(value):
        raise ValueError("the result is too large for a number")
    return Quantity(value, *(_ANY if any(map(math.isnan, ends)) else ends), powers)


def units() -> Iterator[str]:
    """The names that units are made of."""
    return iter(_FACTORS)

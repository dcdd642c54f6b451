"""Read sizes of a probe model as polynomials of its symbols.

Each symbol of a probe (hidden size, heads, vocabulary …) has a value with a prime factor that no other value has. So a
dimension of 424 can only be the MLP's width, and one of 848 twice that.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

Monomial = tuple[str, ...]
"""The symbols of a product, sorted; the empty one is the constant."""
Polynomial = dict[Monomial, Fraction]

_FACTORS = tuple(map(Fraction, ("1", "2", "3", "4", "1/2", "5", "6", "8", "1/4", "3/4", "1/8")))
_MOST_SYMBOLS = 4
_LARGEST_CONSTANT = 9


class UnknownSizeError(ValueError):
    """A size that is no product of the probe's symbols."""


def times(one: Polynomial, other: Polynomial) -> Polynomial:
    """Return the product of two polynomials."""
    out: Counter[Monomial] = Counter()
    for a, x in one.items():
        for b, y in other.items():
            out[tuple(sorted(a + b))] += x * y  # type: ignore[assignment]
    return dict(out)  # type: ignore[arg-type]


def _linear(terms: Mapping[str, int]) -> Polynomial:
    return {(symbol,) if symbol else (): Fraction(n) for symbol, n in terms.items()}


class SymbolTable:
    """The symbols of a probe model with their values, and sums of them that its layers use as a size."""

    def __init__(
        self,
        values: Mapping[str, int],
        sums: Sequence[Mapping[str, int]] = (),
        names: Mapping[Monomial, str] | None = None,
    ) -> None:
        self.values = dict(values)
        # transformers pads the labels of a batch by one before it shifts them; a decode step adds a token to the cache.
        longer = [{symbol: 1, "": 1} for symbol in ("S", "C") if symbol in values]
        self._sums = {self._value(one): _linear(one) for one in (*sums, *longer)}
        self.size = cache(self._size)
        self._names = names or {}

    def _value(self, terms: Mapping[str, int]) -> int:
        return sum(n * (self.values[symbol] if symbol else 1) for symbol, n in terms.items())

    def _size(self, number: int) -> Polynomial:
        """Return a dimension as a polynomial.

        Raises:
            UnknownSizeError: no product of symbols and no declared sum has this value.
        """
        if number <= _LARGEST_CONSTANT:
            return {(): Fraction(number)}
        if number in self._sums:
            return self._sums[number]
        for symbols in range(1, _MOST_SYMBOLS + 1):
            found = self._product(number, symbols)
            if found:
                return found
        for value, one in self._sums.items():
            if number % value == 0 and number // value > 1:
                return times(self._size(number // value), one)
        raise UnknownSizeError(f"the size {number} is no product of {self.values}")

    def _product(self, number: int, symbols: int) -> Polynomial | None:
        for factor in _FACTORS:
            for names in combinations_with_replacement(sorted(self.values), symbols):
                product = factor
                for name in names:
                    product *= self.values[name]
                if product == number:
                    return {tuple(sorted(names)): factor}
        return None

    def storage(self, shape: Sequence[int], itemsize: int, nbytes: int) -> Polynomial:
        """Return the bytes of a storage as a polynomial.

        The shape is that of the first tensor in the storage. Where the tensor is a part of its storage, the number of
        elements is read instead of the shape.
        """
        elements = 1
        for length in shape:
            elements *= length
        sizes = shape if elements * itemsize == nbytes else (nbytes // itemsize,)
        out: Polynomial = {(): Fraction(itemsize)}
        for length in sizes:
            out = times(out, self.size(length))
        return {self._named(monomial): amount for monomial, amount in out.items()}

    def _named(self, monomial: Monomial) -> Monomial:
        """Return a product with the symbol of a part of it in the part's place: q for a*d."""
        for parts, name in self._names.items():
            if not Counter(parts) - Counter(monomial):
                rest = list((Counter(monomial) - Counter(parts)).elements())
                return self._named(tuple(sorted([*rest, name])))
        return monomial

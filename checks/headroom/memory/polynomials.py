"""Evaluate the recorded polynomials of bytes: a coefficient per product of a model's and a job's symbols."""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TypeAlias

from headroom.maths.expressions import parse
from headroom.maths.quantities import Quantity

Polynomial: TypeAlias = Mapping[str, int]
"""Bytes per monomial: ``{"B*S*h": 16, "": 512}`` is 16·B·S·h + 512."""
Symbols: TypeAlias = Mapping[str, int]


def factors(monomial: str) -> list[str]:
    """Return the symbols of a monomial; none for the constant."""
    return monomial.split("*") if monomial else []


def value(polynomial: Polynomial, symbols: Symbols) -> int:
    """Return a polynomial's bytes.

    Raises:
        KeyError: a symbol has no value.
    """
    return sum(bytes_ * prod(symbols[name] for name in factors(term)) for term, bytes_ in polynomial.items())


def largest(candidates: Sequence[Polynomial], symbols: Symbols) -> tuple[int, Polynomial]:
    """Return the largest value among candidates, with its polynomial; zero if there are none."""
    return max(((value(each, symbols), each) for each in candidates), key=lambda pair: pair[0], default=(0, {}))


def without(polynomial: Polynomial, symbols: Iterable[str]) -> Polynomial:
    """Return a polynomial without the monomials that contain all these symbols."""
    wanted = set(symbols)
    return {term: bytes_ for term, bytes_ in polynomial.items() if not wanted <= set(factors(term))}


def text(polynomial: Polynomial) -> str:
    """Return a polynomial as a formula: ``16·B·S·h + 8·B·S·f``."""
    terms = ["·".join([f"{bytes_:,}", *factors(term)]) for term, bytes_ in polynomial.items() if bytes_]
    return " + ".join(terms).replace("+ -", "− ") or "0"


def whole(expression: str | int, symbols: Symbols) -> int:
    """Return the value of a size such as ``h/a``, ``2*f`` or 4.

    Raises:
        ValueError: the value is not a whole number, or the text is not arithmetic.
        KeyError: a symbol has no value.
    """
    if isinstance(expression, int):
        return expression
    if expression in symbols:
        return symbols[expression]
    known = {name: Quantity.of(float(size)) for name, size in symbols.items()}
    found = parse(expression, capitals=True).evaluate(known).value
    if found != int(found):
        values = ", ".join(f"{name} = {symbols[name]}" for name in sorted(parse(expression, capitals=True).names))
        raise ValueError(f"`{expression}` is {found:g}, not a whole number ({values})")
    return int(found)

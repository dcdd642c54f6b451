"""Evaluate the formulas of a picture from its lets."""

from collections.abc import Mapping

from headroom.maths.expressions import parse
from headroom.maths.quantities import Quantity
from headroom.pages.calculations import Source, given_number
from headroom.pages.estimate_targets import SCHEME as ESTIMATE


class Formulas:
    """The values of a picture's lets; units of what is counted are dropped, because the picture names its unit.

    Raises:
        ValueError, LookupError: a let has no value; the message says which and why.
    """

    def __init__(self, lets: Mapping[str, str | float], source: Source) -> None:
        self._source = source
        self._values: dict[str, Quantity] = {}
        for name, text in lets.items():
            self._values[name] = self._quantity(str(text))

    def value(self, formula: str, unit: str = "1") -> float:
        """Return the result of a formula in a unit."""
        return self._quantity(formula).value / Quantity.of(1, unit).value

    def _quantity(self, text: str) -> Quantity:
        if text.startswith(("fact:", "claim:", ESTIMATE)):
            return _plain(self._source(text))
        if given := given_number(text):
            return _plain(Quantity.of(float(given[0]), given[1]))
        return parse(text, capitals=True).evaluate(self._values)


def _plain(quantity: Quantity) -> Quantity:
    return Quantity.of(quantity.value)

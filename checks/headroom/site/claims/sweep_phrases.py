"""Values and ranges of a sweep in words."""

import re
from collections.abc import Sequence

from headroom.records.base import Value
from headroom.records.claims import Sweep
from headroom.verdicts.crossover import Shape

_HEAD = re.compile(r"^(?P<head>.*?)(?P<rest>(?: (?:of|in|per|a) .*)?)$", re.DOTALL)
_PLURAL = re.compile(r"(?<=ch|sh|ss)es$|(?<=[^s])s$")
_SHARE = "share of "
# Titles where the unit alone is ambiguous, by axis and unit.
_TITLES = {("batch_size", "sequences"): "sequences in a batch"}


def title(sweep: Sweep) -> str:
    """Return the title of a sweep's axis and column: `sequences in a batch`."""
    return _TITLES.get((sweep.axis, sweep.unit), sweep.unit)


def figure(sweep: Sweep, value: Value) -> str:
    """Return a value without its unit: `1,024`, `25 %`."""
    if isinstance(value, str):
        return value
    if sweep.unit.startswith(_SHARE):
        return f"{value * 100:,.6g}\u00a0%"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def at(sweep: Sweep, *values: Value) -> str:
    """Return values with their unit: `1 sequence`, `1, 2 and 4 sequences`, `25 % padding`."""
    figures = [figure(sweep, value) for value in values]
    figures[:-1] = [each.removesuffix("\u00a0%") for each in figures[:-1]]  # once, like the unit
    listed = figures[-1] if len(figures) == 1 else f"{', '.join(figures[:-1])} and {figures[-1]}"
    return f"{listed} {_unit(sweep, one=values == (1,))}"


def between(sweep: Sweep, low: Value, high: Value) -> str:
    """Return a range: `between 512 and 1,024 tokens`."""
    return f"between {at(sweep, low, high)}"


def over(sweep: Sweep, values: Sequence[Value]) -> str:
    """Return measured values: all of them if they are few, else the first and the last."""
    few = 4
    if len(values) <= few:
        return f"at {at(sweep, *values)}"
    return f"from {at(sweep, values[0], values[-1]).replace(' and ', ' to ', 1)}"


def reach(sweep: Sweep, shape: Shape) -> str:
    """Return the part of a sweep where a claim holds: `from 1,024 tokens up`; nothing if that is several parts."""
    if shape.edge is None:
        return ""
    place = at(sweep, shape.edge)
    return f"from {place} up" if shape.kind == "from" else f"up to {place}"


def _unit(sweep: Sweep, *, one: bool) -> str:
    if sweep.unit.startswith(_SHARE):
        return sweep.unit.removeprefix(_SHARE)
    match = _HEAD.match(sweep.unit)
    return _PLURAL.sub("", match["head"]) + match["rest"] if one and match else sweep.unit

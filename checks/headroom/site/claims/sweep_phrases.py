"""The axis of a sweep in words: at one value, at several, between two, and from where on."""

import re
from collections.abc import Sequence

from headroom.records.base import Value
from headroom.records.claims import Sweep
from headroom.verdicts.crossover import Shape

_HEAD = re.compile(r"^(?P<head>.*?)(?P<rest>(?: (?:of|in|per|a) .*)?)$", re.DOTALL)
_PLURAL = re.compile(r"(?<=ch|sh|ss)es$|(?<=[^s])s$")
_SHARE = "share of "
# What a unit alone leaves open, by the axis and its unit.
_TITLES = {("batch_size", "sequences"): "sequences in a batch"}


def title(sweep: Sweep) -> str:
    """What stands below the axis of a plot and above a column: `sequences in a batch`."""
    return _TITLES.get((sweep.axis, sweep.unit), sweep.unit)


def figure(sweep: Sweep, value: Value) -> str:
    """A value alone, as beside a tick: `1,024`, `25 %`."""
    if isinstance(value, str):
        return value
    if sweep.unit.startswith(_SHARE):
        return f"{value * 100:,.6g}\u00a0%"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def at(sweep: Sweep, *values: Value) -> str:
    """Values with their unit: `1 sequence`, `1, 2 and 4 sequences`, `25 % padding`."""
    figures = [figure(sweep, value) for value in values]
    figures[:-1] = [each.removesuffix("\u00a0%") for each in figures[:-1]]  # said once, as the unit is
    listed = figures[-1] if len(figures) == 1 else f"{', '.join(figures[:-1])} and {figures[-1]}"
    return f"{listed} {_unit(sweep, one=values == (1,))}"


def between(sweep: Sweep, low: Value, high: Value) -> str:
    """`between 512 and 1,024 tokens`."""
    return f"between {at(sweep, low, high)}"


def over(sweep: Sweep, values: Sequence[Value]) -> str:
    """Several measured values: each by its name where they are few, else the first and the last."""
    few = 4
    if len(values) <= few:
        return f"at {at(sweep, *values)}"
    return f"from {at(sweep, values[0], values[-1]).replace(' and ', ' to ', 1)}"


def reach(sweep: Sweep, shape: Shape) -> str:
    """For what part of the sweep a claim holds: `from 1,024 tokens up`; nothing where that is no single part."""
    if shape.edge is None:
        return ""
    place = at(sweep, shape.edge)
    return f"from {place} up" if shape.kind == "from" else f"up to {place}"


def _unit(sweep: Sweep, *, one: bool) -> str:
    if sweep.unit.startswith(_SHARE):
        return sweep.unit.removeprefix(_SHARE)
    match = _HEAD.match(sweep.unit)
    return _PLURAL.sub("", match["head"]) + match["rest"] if one and match else sweep.unit

"""The moments of a job and the largest moment of each phase.

A moment is a point in a phase, such as the forward pass of one layer. The memory of a phase is that of its largest
moment, and the peak is the largest phase.
"""

from collections.abc import Iterable
from dataclasses import dataclass

FORWARD, START, END, STEP = "forward", "start of backward", "end of backward", "optimizer step"


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the memory: its bytes, and the formula that gives them."""

    name: str
    bytes: int
    formula: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a phase with its components, which add up to the memory."""

    phase: str
    place: str
    components: tuple[Component, ...]

    @property
    def bytes(self) -> int:
        """Return the memory of the moment."""
        return sum(each.bytes for each in self.components)


def phases(moments: Iterable[Moment]) -> tuple[Moment, ...]:
    """Return the largest moment of each phase, in the order of the phases."""
    found: dict[str, tuple[int, Moment]] = {}
    for each in moments:
        size = each.bytes
        if each.phase not in found or size > found[each.phase][0]:
            found[each.phase] = size, each
    return tuple(moment for _, moment in found.values())

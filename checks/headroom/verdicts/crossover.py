"""Find where along its sweep a claim holds, and between which points its verdict changes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from headroom.records.base import Value
from headroom.records.claims import MeasuredClaim
from headroom.verdicts.judge import PointVerdict

Kind = Literal["everywhere", "from", "up_to", "nowhere", "unresolved", "irregular"]

# The verdicts in grid order, one letter per point: supported, contradicted, inconclusive.
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("everywhere", re.compile(r"s+")),
    ("from", re.compile(r"[ci]+s+")),
    ("up_to", re.compile(r"s+[ci]+")),
    ("nowhere", re.compile(r"c+")),
    ("unresolved", re.compile(r"[ci]+")),
)
Between = tuple[Value, Value]
"""Two grid values with different verdicts, the smaller first, with only inconclusive points between them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Where along a sweep a claim is supported."""

    kind: Kind
    """``irregular`` if the supported points are neither all points nor a contiguous end of the grid."""
    edge: Value | None = None
    """The first supported value if ``kind`` is ``from``, the last if it is ``up_to``."""
    between: Between | None = None
    """The crossover, from the last conclusive point on one side to the first on the other.

    None if the shape has no edge, or all points on one side are inconclusive.
    """


EVERYWHERE = Shape("everywhere")


def asserted(claim: MeasuredClaim) -> Shape | None:
    """Return the part of its sweep that a claim asserts; None if it asserts all of it, or has no sweep."""
    sweep, points = claim.scope.sweep, claim.scope.points
    if sweep is None or all(map(claim.scope.asserted, points)):
        return None
    values = [point[sweep.axis] for point in points if claim.scope.asserted(point)]
    rising = claim.scope.asserted(points[-1])
    return Shape("from", values[0]) if rising else Shape("up_to", values[-1])


def changes(claim: MeasuredClaim, points: Sequence[PointVerdict]) -> list[Between]:
    """Return the pairs of values between which the verdict changes; inconclusive points widen the gap."""
    if claim.scope.sweep is None:
        return []
    axis = claim.scope.sweep.axis
    resolved = [point for point in points if point.verdict != "inconclusive"]
    return [(a.point[axis], b.point[axis]) for a, b in pairwise(resolved) if a.verdict != b.verdict]


def shape(claim: MeasuredClaim, points: Sequence[PointVerdict]) -> Shape | None:
    """Return the shape of a claim from a session's points in grid order; None if the claim has no sweep."""
    if claim.scope.sweep is None:
        return None
    letters = "".join(point.verdict[0] for point in points)
    kind: Kind = next((kind for kind, pattern in _KINDS if pattern.fullmatch(letters)), "irregular")
    if kind not in ("from", "up_to"):
        return Shape(kind)
    supported = [point.point[claim.scope.sweep.axis] for point in points if point.verdict == "supported"]
    edge = supported[0 if kind == "from" else -1]
    return Shape(kind, edge, next(iter(changes(claim, points)), None))

"""The shape of a claim along its sweep: where it holds, and between which points its verdict changes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from headroom.records.base import Value
from headroom.records.claims import MeasuredClaim
from headroom.verdicts.judge import PointVerdict

Kind = Literal["everywhere", "from", "up_to", "nowhere", "unresolved", "irregular"]

# The verdicts in the order of the grid, a letter a point: supported, contradicted, inconclusive.
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("everywhere", re.compile(r"s+")),
    ("from", re.compile(r"[ci]+s+")),
    ("up_to", re.compile(r"s+[ci]+")),
    ("nowhere", re.compile(r"c+")),
    ("unresolved", re.compile(r"[ci]+")),
)
Between = tuple[Value, Value]
"""Two values of a grid with different verdicts, the smaller one first, and no resolved one between them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Where along a sweep a claim is supported."""

    kind: Kind
    """``irregular`` where the supported points are not one end of the grid, or all of it."""
    edge: Value | None = None
    """The first supported value of ``from``, the last one of ``up_to``."""
    between: Between | None = None
    """The crossover: from the last resolved point on the one side to the first on the other.

    None where there is none, more than one, or where the points on one side are not resolved at all.
    """


EVERYWHERE = Shape("everywhere")


def asserted(claim: MeasuredClaim) -> Shape | None:
    """The part of its sweep that a claim is meant for; None where it is meant for all of it, or nothing is swept."""
    sweep, points = claim.scope.sweep, claim.scope.points
    if sweep is None or all(map(claim.scope.asserted, points)):
        return None
    meant = [point[sweep.axis] for point in points if claim.scope.asserted(point)]
    rising = claim.scope.asserted(points[-1])
    return Shape("from", meant[0]) if rising else Shape("up_to", meant[-1])


def changes(claim: MeasuredClaim, points: Sequence[PointVerdict]) -> list[Between]:
    """Between which values the verdict changes. Points that are not resolved are passed over, and so widen the gap."""
    if claim.scope.sweep is None:
        return []
    axis = claim.scope.sweep.axis
    resolved = [point for point in points if point.verdict != "inconclusive"]
    return [(a.point[axis], b.point[axis]) for a, b in pairwise(resolved) if a.verdict != b.verdict]


def shape(claim: MeasuredClaim, points: Sequence[PointVerdict]) -> Shape | None:
    """What the points of a session, in the order of the grid, say of a claim; None where nothing is swept."""
    if claim.scope.sweep is None:
        return None
    letters = "".join(point.verdict[0] for point in points)
    kind: Kind = next((kind for kind, pattern in _KINDS if pattern.fullmatch(letters)), "irregular")
    if kind not in ("from", "up_to"):
        return Shape(kind)
    supported = [point.point[claim.scope.sweep.axis] for point in points if point.verdict == "supported"]
    edge = supported[0 if kind == "from" else -1]
    return Shape(kind, edge, next(iter(changes(claim, points)), None))

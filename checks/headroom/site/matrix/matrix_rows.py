"""The rows of the matrix: a method and the hardware classes with the same results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from headroom.records import MeasuredClaim
from headroom.records.methods import Method
from headroom.site.matrix import outcomes
from headroom.site.matrix.outcomes import Outcome
from headroom.site.site_data import SiteData

Goal = Literal["speed", "memory", "quality"]
GOALS: tuple[Goal, ...] = get_args(Goal)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """The results of a method on some hardware classes; no classes for reported and computed ones."""

    method: Method
    classes: tuple[str, ...]
    known: Mapping[Goal, tuple[Outcome, ...]]
    """The outcomes of its claims in the method's order; empty if nothing is known."""


def rows(site: SiteData) -> Iterator[MatrixRow]:
    """Yield each method's rows by name: measured classes first, reported and computed results last."""
    for method in sorted(site.tree.methods.values(), key=lambda method: (method.name.lower(), method.id)):
        alike: dict[tuple[object, ...], MatrixRow] = {}
        for name in site.tree.classes:
            known = {goal: tuple(_measured(site, method, goal, name)) for goal in GOALS}
            shown = tuple((goal, outcome.shown) for goal in GOALS for outcome in known[goal])
            classes = (*alike[shown].classes, name) if shown in alike else (name,)
            alike[shown] = MatrixRow(method, classes, known)
        yield from sorted(alike.values(), key=_unknown)
        elsewhere = {goal: tuple(_reported(site, method, goal)) for goal in GOALS}
        if any(elsewhere.values()):
            yield MatrixRow(method, (), elsewhere)


def _unknown(row: MatrixRow) -> tuple[int, int]:
    """Return the sort key: rows with more measured goals first, then rows with fewer gaps."""
    here = sum(any(each.here for each in found) for found in row.known.values())
    return -here, sum(not found for found in row.known.values())


def _measured(site: SiteData, method: Method, goal: Goal, hardware: str) -> Iterator[Outcome]:
    for claim in outcomes.active(site, method.claims.get(goal, ())):
        if isinstance(claim, MeasuredClaim) and site.board.status(claim, hardware) != "unmeasured":
            yield outcomes.measured(site, method, claim, hardware)


def _reported(site: SiteData, method: Method, goal: Goal) -> Iterator[Outcome]:
    for claim in outcomes.active(site, method.claims.get(goal, ())):
        found = outcomes.reported(site, claim)
        if found:
            yield found

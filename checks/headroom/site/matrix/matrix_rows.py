"""The rows of the matrix: a method, the hardware classes of which the same is known, and what that is."""

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
    """What is known of a method on some hardware classes, or on none of them: reported or computed."""

    method: Method
    classes: tuple[str, ...]
    known: Mapping[Goal, tuple[Outcome, ...]]
    """What its claims say, the first of them first; empty where nothing is known."""


def rows(site: SiteData) -> Iterator[MatrixRow]:
    """Every method by name; each on every class once, what was measured first, and last what was not measured here."""
    for method in sorted(site.tree.methods.values(), key=lambda method: (method.name.lower(), method.id)):
        alike: dict[tuple[object, ...], MatrixRow] = {}
        for name in site.tree.classes:
            known = {goal: tuple(_measured(site, method, goal, name)) for goal in GOALS}
            told = tuple((goal, outcome.told) for goal in GOALS for outcome in known[goal])
            classes = (*alike[told].classes, name) if told in alike else (name,)
            alike[told] = MatrixRow(method, classes, known)
        yield from sorted(alike.values(), key=_unknown)
        elsewhere = {goal: tuple(_told(site, method, goal)) for goal in GOALS}
        if any(elsewhere.values()):
            yield MatrixRow(method, (), elsewhere)


def _unknown(row: MatrixRow) -> tuple[int, int]:
    """How much of a row was not measured on its own hardware, and how much of it is not known at all."""
    here = sum(any(each.here for each in found) for found in row.known.values())
    return -here, sum(not found for found in row.known.values())


def _measured(site: SiteData, method: Method, goal: Goal, hardware: str) -> Iterator[Outcome]:
    for claim in outcomes.active(site, method.claims.get(goal, ())):
        if isinstance(claim, MeasuredClaim) and site.board.status(claim, hardware) != "unmeasured":
            yield outcomes.measured(site, method, claim, hardware)


def _told(site: SiteData, method: Method, goal: Goal) -> Iterator[Outcome]:
    for claim in outcomes.active(site, method.claims.get(goal, ())):
        found = outcomes.told(site, claim)
        if found:
            yield found

"""Where claims say that they flip, and for what part of a sweep they hold, against the evidence."""

from collections.abc import Iterator, Mapping

from headroom.records import Problem, Tree
from headroom.records.claims import MeasuredClaim
from headroom.rules.context import Context
from headroom.verdicts.crossover import changes
from headroom.verdicts.judge import PointVerdict

_Found = Mapping[str, tuple[PointVerdict, ...]]
"""The points of a claim's newest session on each class."""


def flips(context: Context) -> Iterator[Problem]:
    """Where a claim says that it flips, its verdict changes, and nowhere else; where it says that it holds, it does."""
    for claim in context.tree.measured():
        standings = context.board.standings[claim.id].items()
        found = {name: standing.verdict.points for name, standing in standings if standing.verdict}
        if claim.scope.sweep and found:
            yield from _where_it_says(context.tree, claim, found)
            wrong = list(_within(context.tree, claim, found))
            yield from wrong or _outside(context.tree, claim, found)


def _where_it_says(tree: Tree, claim: MeasuredClaim, found: _Found) -> Iterator[Problem]:
    """Each class may flip elsewhere: what is said is found on one of them, and what is found on any is said."""
    said = {flip.between for flip in claim.flips}
    each = {name: set(changes(claim, points)) for name, points in found.items()}
    if said != set().union(*each.values()):
        measured = "; ".join(f"on `{name}` it does between {sorted(places)}" for name, places in each.items())
        message = f"says that it flips between {sorted(said)}; {measured}"
        yield _in(tree, claim, "flips", message, "write what is measured")


def _within(tree: Tree, claim: MeasuredClaim, found: _Found) -> Iterator[Problem]:
    """Nothing is contradicted where ``holds_for`` says that the claim holds."""
    for name, points in found.items() if claim.scope.holds_for else ():
        wrong = [_value(claim, point) for point in points if point.asserted and point.verdict == "contradicted"]
        if wrong:
            message = f"says `{claim.scope.holds_for}`; on `{name}` it is contradicted at {', '.join(wrong)}"
            yield _in(tree, claim, "scope.holds_for", message, "say for what it holds, or remove holds_for")


def _outside(tree: Tree, claim: MeasuredClaim, found: _Found) -> Iterator[Problem]:
    """A claim that is said to hold for a part flips, fails or is not known outside of it, or says that it does not."""
    outside = [point for points in found.values() for point in points if not point.asserted]
    says_nowhere = "flips" in claim.model_fields_set and not claim.flips
    if claim.scope.holds_for and not says_nowhere and all(point.verdict == "supported" for point in outside):
        message = f"says `{claim.scope.holds_for}`, and no point outside of that is anything but supported"
        remedy = "widen or remove holds_for, or write `flips: []` to say that it flips nowhere"
        yield _in(tree, claim, "scope.holds_for", message, remedy)


def _value(claim: MeasuredClaim, point: PointVerdict) -> str:
    return str(point.point[claim.scope.sweep.axis]) if claim.scope.sweep else ""


def _in(tree: Tree, claim: MeasuredClaim, field: str, message: str, remedy: str) -> Problem:
    """A problem at the line of a claim's field."""
    path = tree.claim_paths[claim.id]
    line = tree.documents[path].line(tuple(field.split("."))) or 1
    return Problem(path, line, "flips", field, message, remedy)

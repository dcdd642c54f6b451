"""Rule `flips`: the `flips` and `holds_for` of a swept claim agree with the evidence."""

from collections.abc import Iterator, Mapping

from headroom.records import Problem, Tree
from headroom.records.claims import MeasuredClaim
from headroom.rules.context import Context
from headroom.verdicts.crossover import changes
from headroom.verdicts.judge import PointVerdict

_Found = Mapping[str, tuple[PointVerdict, ...]]
"""The points of a claim's newest session on each class."""


def flips(context: Context) -> Iterator[Problem]:
    """Report claims whose `flips` or `holds_for` disagrees with the verdicts along the sweep."""
    for claim in context.tree.measured():
        standings = context.board.standings[claim.id].items()
        found = {name: standing.verdict.points for name, standing in standings if standing.verdict}
        if claim.scope.sweep and found:
            yield from _flips_as_stated(context.tree, claim, found)
            wrong = list(_within(context.tree, claim, found))
            yield from wrong or _outside(context.tree, claim, found)


def _flips_as_stated(tree: Tree, claim: MeasuredClaim, found: _Found) -> Iterator[Problem]:
    """Report stated flips that no class shows, and flips on any class that are not stated."""
    stated = {flip.between for flip in claim.flips}
    each = {name: set(changes(claim, points)) for name, points in found.items()}
    if stated != set().union(*each.values()):
        measured = "; ".join(f"on `{name}` it changes between {sorted(places)}" for name, places in each.items())
        message = f"the claim says that its verdict changes between {sorted(stated)}, but {measured}"
        yield _in(tree, claim, "flips", message, "write the places that are measured")


def _within(tree: Tree, claim: MeasuredClaim, found: _Found) -> Iterator[Problem]:
    """Report contradicted points in the part of the sweep that ``holds_for`` asserts."""
    for name, points in found.items() if claim.scope.holds_for else ():
        wrong = [_value(claim, point) for point in points if point.asserted and point.verdict == "contradicted"]
        if wrong:
            message = f"the claim asserts `{claim.scope.holds_for}`, but on `{name}` it is contradicted at "
            message += ", ".join(wrong)
            yield _in(tree, claim, "scope.holds_for", message, "correct the bound, or remove holds_for")


def _outside(tree: Tree, claim: MeasuredClaim, found: _Found) -> Iterator[Problem]:
    """Report a ``holds_for`` outside of which every point is supported, unless the claim states that it never flips."""
    outside = [point for points in found.values() for point in points if not point.asserted]
    says_nowhere = "flips" in claim.model_fields_set and not claim.flips
    if claim.scope.holds_for and not says_nowhere and all(point.verdict == "supported" for point in outside):
        message = f"the claim asserts only `{claim.scope.holds_for}`, but every other point is supported as well"
        remedy = "widen or remove holds_for, or write `flips: []` to say that the verdict does not change"
        yield _in(tree, claim, "scope.holds_for", message, remedy)


def _value(claim: MeasuredClaim, point: PointVerdict) -> str:
    return str(point.point[claim.scope.sweep.axis]) if claim.scope.sweep else ""


def _in(tree: Tree, claim: MeasuredClaim, field: str, message: str, remedy: str) -> Problem:
    """Return a problem at the line of a claim's field."""
    path = tree.claim_paths[claim.id]
    line = tree.documents[path].line(tuple(field.split("."))) or 1
    return Problem(path, line, "flips", field, message, remedy)

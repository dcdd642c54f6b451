"""Look up the value of a claim's figure."""

from typing import get_args

from headroom.maths.units import UNITS
from headroom.pages.link_targets import ClaimTarget
from headroom.records.claims import MeasuredClaim
from headroom.records.modelled_claims import FigureName, ModelledClaim
from headroom.records.reported_claims import ReportedClaim
from headroom.records.tree import Tree
from headroom.verdicts import Board
from headroom.verdicts.claim_figures import value_of
from headroom.verdicts.formula_check import evaluate


def measured(tree: Tree, board: Board, target: ClaimTarget) -> tuple[float, str]:
    """Return a figure's value and unit, from the newest session of its hardware class that counts.

    Raises:
        LookupError: the claim, session, point or figure does not exist; the message says which.
    """
    claim = tree.claims.get(target.claim)
    if isinstance(claim, ModelledClaim):
        return _computed(claim, tree, board, target)
    if isinstance(claim, ReportedClaim):
        return _reported(claim, board, target)
    if not isinstance(claim, MeasuredClaim):
        raise LookupError(f"`{target.claim}` is not a measured claim")  # noqa: TRY004 - the link is wrong, not a type
    if target.figure is None:
        raise LookupError("the link names no figure")
    if target.figure not in get_args(FigureName):
        raise LookupError(f"`#{target.figure}` is no figure of a measured claim")
    if target.hardware_class is None:
        raise LookupError(f"the figure needs a hardware class, for example `#{target.figure}@h200`")
    if target.hardware_class not in tree.classes:
        raise LookupError(f"there is no hardware class `{target.hardware_class}`")
    standing = board.of(claim, target.hardware_class)
    if standing.verdict is None:
        raise LookupError(f"nothing is measured on `{target.hardware_class}`")
    point = standing.at(target.point)
    if point is None:
        grid = claim.scope.sweep
        raise LookupError(f"name one point: {grid.axis}=…, out of {list(grid.grid)}" if grid else "no such point")
    if point.n == 0:
        raise LookupError("this point is not measured in the newest session")
    return value_of(target.figure, point, claim)


def _reported(claim: ReportedClaim, board: Board, target: ClaimTarget) -> tuple[float, str]:
    """Return a figure of a reported claim: a ratio, or an amount in the unit of the published column."""
    result = board.reported[claim.id].result(target.hardware_class)
    unit = result.record.metric.unit
    amounts = {"subject": result.subject, "baseline": result.baseline}
    if target.figure in amounts:
        return amounts[target.figure] / UNITS[unit][1], unit
    ends = {"ratio": result.ratio, "ratio-low": result.low, "ratio-high": result.high, "slowdown": 1 / result.ratio}
    ends["change"] = (result.ratio if claim.metric.better == "higher" else 1 / result.ratio) - 1
    found = ends.get(target.figure or "")
    if found is None:
        raise LookupError(f"`{result.record.id}` has no figure `{target.figure}`")
    return found, "1"


def _computed(claim: ModelledClaim, tree: Tree, board: Board, target: ClaimTarget) -> tuple[float, str]:
    """Return a formula's result in the unit that its claim predicts, or as a plain number."""
    if target.figure != "value":
        raise LookupError(
            f"`{target.claim}` is computed; link its figure as `#value`, with what differs: `#value,layers=32`"
        )
    at = {name: float(value) for name, value in target.point.items() if isinstance(value, int | float)}
    if len(at) < len(target.point) or set(at) - set(claim.variables):
        raise LookupError(f"the point must give numbers to variables of the formula: {', '.join(claim.variables)}")
    try:
        found = evaluate(claim, tree, board.standings, at)
    except ValueError as error:
        raise LookupError(str(error)) from error
    unit = claim.predicts.unit
    return found.value, unit if unit in UNITS else "1"

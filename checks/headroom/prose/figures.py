"""The measured value behind a figure in a text."""

from statistics import median

from headroom.prose.targets import ClaimTarget
from headroom.records.claims import MeasuredClaim
from headroom.records.tree import Tree
from headroom.verdicts import Board, PointVerdict


def measured(tree: Tree, board: Board, target: ClaimTarget) -> tuple[float, str]:
    """The value of a figure and its unit, from the newest session of its hardware class that counts.

    Raises:
        LookupError: there is no such claim, session, point or figure; the message says which.
    """
    claim = tree.claims.get(target.claim)
    if not isinstance(claim, MeasuredClaim):
        raise LookupError(f"`{target.claim}` is no measured claim")  # noqa: TRY004 - the link is wrong, not a type
    if target.figure is None or target.hardware_class is None:
        raise LookupError("the link names no figure")
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
    return _figure(target.figure, point, claim)


def _figure(name: str, point: PointVerdict, claim: MeasuredClaim) -> tuple[float, str]:
    unit = claim.metric.kind.unit
    subject, baseline = median(point.subject), median(point.baseline)
    towards = point.ratio if claim.metric.kind.better == "higher" else 1 / point.ratio
    return {
        "ratio": (point.ratio, "1"),
        "slowdown": (1 / point.ratio, "1"),
        "change": (towards - 1, "1"),
        "subject": (subject, unit),
        "baseline": (baseline, unit),
        "difference": (subject - baseline, unit),
    }[name]

"""Look up the figures that formulas name: facts, figures of claims, and estimates."""

from headroom.maths.quantities import Quantity
from headroom.pages.calculations import Source
from headroom.pages.estimate_targets import SCHEME as ESTIMATE
from headroom.pages.link_targets import FactTarget, parse_target
from headroom.pages.measured_figures import measured
from headroom.pages.predictions import Predictions
from headroom.records.tree import Tree
from headroom.verdicts import Board


def source_of(tree: Tree, board: Board, predictions: Predictions | None = None) -> Source:
    """Return a function that looks up the figures of a tree's facts, claims and estimates.

    Args:
        tree: the facts and claims.
        board: the verdicts on the claims.
        predictions: the predicted figures; by default those of the tree, made anew.
    """
    predictions = predictions or Predictions(tree.root)

    def look_up(address: str) -> Quantity:
        if address.startswith(ESTIMATE):
            return predictions.of(address).quantity
        target = parse_target(address)
        if not isinstance(target, FactTarget):
            value, unit = measured(tree, board, target)
            return Quantity.of(float(value), unit)
        sheet = tree.sheet(target.sheet)
        if sheet is None or target.figure not in sheet.figures:
            raise LookupError(f"there is no fact `{target.sheet}.{target.figure}`")
        figure = sheet.figures[target.figure]
        return Quantity.of(float(figure.value), figure.unit)

    return look_up

"""Verdicts as rows: one claim on one hardware class at one point."""

from collections.abc import Iterator
from dataclasses import dataclass

from headroom.records.claims import CitedClaim, Point
from headroom.records.modelled import ModelledClaim
from headroom.records.tree import Tree
from headroom.verdicts.standing import Board, Standing


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of a claim on a class, at one point of its sweep or as a whole."""

    claim: str
    hardware_class: str
    status: str
    reason: str
    point: Point
    ratio: float | None
    low: float | None
    high: float | None
    n: int
    session: str | None

    def __str__(self) -> str:
        """One line for a terminal."""
        at = ", ".join(f"{name}={value}" for name, value in self.point.items())
        place = f"{self.claim} on {self.hardware_class}" + (f" at {at}" if at else "")
        if self.ratio is None:
            return f"{place}: {self.status} ({self.reason})"
        interval = f"{self.ratio:.4g} [{self.low:.4g}, {self.high:.4g}]"
        return f"{place}: {self.status} ({self.reason}), {interval}, {self.n} blocks"


def rows(tree: Tree, board: Board) -> Iterator[Row]:
    """Every claim on every class, a row a point; one row where nothing is measured."""
    for claim in tree.claims.values():
        if isinstance(claim, ModelledClaim):
            computed = board.models[claim.id]
            yield Row(claim.id, "as computed", computed.status, computed.reason, {}, None, None, None, 0, None)
            continue
        if isinstance(claim, CitedClaim):
            yield Row(claim.id, "as stated", "cited", claim.independence, {}, None, None, None, 0, None)
            continue
        for name, standing in board.standings[claim.id].items():
            yield from _rows(claim.id, name, standing)


def _rows(claim: str, name: str, standing: Standing) -> Iterator[Row]:
    if standing.verdict is None or standing.session is None:
        yield Row(claim, name, standing.status, standing.reason, {}, None, None, None, 0, None)
        return
    for point in standing.verdict.points:
        known = point.ratio == point.ratio
        yield Row(
            claim=claim,
            hardware_class=name,
            status=point.verdict,
            reason=point.reason,
            point=point.point,
            ratio=point.ratio if known else None,
            low=point.low if known else None,
            high=point.high if known else None,
            n=point.n,
            session=standing.session.path,
        )

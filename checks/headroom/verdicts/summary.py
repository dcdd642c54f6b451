"""Format verdicts as rows: one per claim, hardware class and point."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headroom.records.claims import CitedClaim, Claim, Point
from headroom.records.modelled_claims import ModelledClaim
from headroom.records.reported_claims import ReportedClaim
from headroom.records.tree import Tree
from headroom.verdicts.disputes import Dispute
from headroom.verdicts.reported_results import Reported
from headroom.verdicts.standing import Board, Standing


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A claim's verdict on one hardware class, at one point of its sweep or as a whole."""

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
    age: str = ""
    """The age of the evidence in a word; empty if there is no evidence."""
    age_reason: str = ""
    retired: str = ""
    """The day on which the claim was retired; empty if it was not."""
    machines: tuple[float, ...] = ()
    """The ratio of the newest session on each machine of the class, in ascending order; empty for fewer than two."""

    @property
    def figures(self) -> str:
        """The ratio, its interval or range if there is one, and how often it was repeated; empty without a ratio."""
        if self.ratio is None:
            return ""
        known = self.low is not None and self.high is not None
        interval = f" [{self.low:.4g}, {self.high:.4g}]" if known else ""
        repeats = f"{self.n} blocks" if self.session else f"{self.n} published ratio{'s' * (self.n > 1)}"
        return f"{self.ratio:.4g}{interval}, {repeats}{self._spread}"

    @property
    def _spread(self) -> str:
        """How far machines of the class are apart; empty if only one was measured."""
        if not self.machines:
            return ""
        return f", {self.machines[0]:.4g} to {self.machines[-1]:.4g} on {len(self.machines)} machines"

    def __str__(self) -> str:
        """Return one line for a terminal."""
        at = ", ".join(f"{name}={value}" for name, value in self.point.items())
        place = f"{self.claim} on {self.hardware_class}" + (f" at {at}" if at else "")
        parts = (
            f"{self.status} ({self.reason})",
            self.figures,
            self.age + (f" ({self.age_reason})" if self.age_reason else ""),
            f"retired since {self.retired}" if self.retired else "",
        )
        return f"{place}: {', '.join(filter(None, parts))}"


def rows(tree: Tree, board: Board) -> Iterator[VerdictRow]:
    """Yield a row per claim, hardware class and point; one row for a claim that is not measured."""
    for claim in tree.claims.values():
        if isinstance(claim, ModelledClaim):
            computed = board.models[claim.id]
            row = VerdictRow(claim.id, "as computed", computed.status, computed.reason, {}, None, None, None, 0, None)
            yield replace(row, retired=_since(claim))
            continue
        if isinstance(claim, ReportedClaim):
            for row in _reported(board.reported[claim.id], claim.id):
                yield replace(row, retired=_since(claim))
            continue
        if isinstance(claim, CitedClaim):
            row = VerdictRow(claim.id, "as stated", "cited", claim.independence, {}, None, None, None, 0, None)
            yield replace(row, retired=_since(claim))
            continue
        for name, standing in board.standings[claim.id].items():
            for row in _rows(claim.id, name, standing):
                yield replace(row, retired=_since(claim))


def _reported(found: Reported, claim: str) -> Iterator[VerdictRow]:
    """Yield a row per published comparison; one row if none counts."""
    for result in found.results:
        place = f"published {result.record.hardware.short}, {result.record.id}"
        reason = f"{result.record.raw}, {found.reason}"
        n = len(result.ratios)
        yield VerdictRow(claim, place, result.word, reason, {}, result.ratio, result.low, result.high, n, None)
    if not found.results:
        yield VerdictRow(claim, "as published", found.status, found.reason, {}, None, None, None, 0, None)


def _since(claim: Claim) -> str:
    return claim.retired.since if claim.retired else ""


def _rows(claim: str, name: str, standing: Standing) -> Iterator[VerdictRow]:
    how_old = (standing.age.word, standing.age.reason) if standing.age else ("", "")
    if standing.verdict is None or standing.session is None:
        word = how_old[0]  # the row's reason already says why it is void
        yield VerdictRow(claim, name, standing.status, standing.reason, {}, None, None, None, 0, None, word)
        return
    for point in standing.verdict.points:
        known = point.ratio == point.ratio
        yield VerdictRow(
            claim=claim,
            hardware_class=name,
            status="disputed" if standing.dispute else point.verdict,
            reason=_disputed(standing.dispute) if standing.dispute else point.reason,
            point=point.point,
            ratio=point.ratio if known else None,
            low=point.low if known else None,
            high=point.high if known else None,
            n=point.n,
            session=standing.session.path,
            age=how_old[0],
            age_reason=how_old[1],
            machines=_machines(standing, point.point),
        )


def _machines(standing: Standing, point: Point) -> tuple[float, ...]:
    """Return the ratio at a point of the newest session on each machine; empty for fewer than two machines.

    No record identifies a machine, so two with the same product, cores, memory and driver count as one.
    """
    newest: dict[tuple[object, ...], float] = {}
    judged = [(standing.session, standing.verdict), *standing.others]
    for session, verdict in judged:
        if session and verdict:
            here = session.head.environment
            machine = (here.product, here.cores, here.memory_bytes, here.driver)
            for each in verdict.points:
                if each.point == point and each.ratio == each.ratio:
                    newest.setdefault(machine, each.ratio)
    return tuple(sorted(newest.values())) if len(newest) > 1 else ()


def _disputed(dispute: Dispute) -> str:
    """Return which sessions disagree."""
    return f"{dispute.supported[0].path} supports it, {dispute.reversed[0].path} says the opposite"

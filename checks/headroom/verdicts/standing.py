"""Where each claim stands on each hardware class today."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from headroom.records.claims import Claim, MeasuredClaim, Point
from headroom.records.tree import Session, Tree
from headroom.verdicts.judge import PointVerdict, SessionVerdict, judge

Status = Literal["supported", "contradicted", "inconclusive", "flips", "disputed", "unmeasured", "cited"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A claim on one hardware class: its newest session that still counts, and every other."""

    status: Status
    reason: str
    session: Session | None
    verdict: SessionVerdict | None
    others: tuple[tuple[Session, SessionVerdict], ...]
    """Older sessions that count as well, newest first."""
    void: tuple[Session, ...]
    """Sessions of a benchmark that has changed since: shown, never counted."""

    def at(self, point: Point) -> PointVerdict | None:
        """The verdict at a point that fits: every value given must be the point's; None where not exactly one fits."""
        points = self.verdict.points if self.verdict else ()
        fitting = [p for p in points if all(p.point.get(name) == value for name, value in point.items())]
        return fitting[0] if len(fitting) == 1 else None


@dataclass(frozen=True, slots=True)
class Board:
    """Every claim on every hardware class that it is meant for or was measured on."""

    standings: Mapping[str, Mapping[str, Standing]]

    def of(self, claim: Claim, hardware_class: str) -> Standing:
        """Where a claim stands on a class; ``unmeasured`` where nothing is known."""
        return self.standings[claim.id].get(hardware_class, _UNMEASURED)

    def status(self, claim: Claim, hardware_class: str) -> Status:
        """What a page about this class may say of a claim.

        A claim whose metric carries over takes the status that every class with evidence agrees on.
        """
        if not isinstance(claim, MeasuredClaim):
            return "cited"
        standing = self.of(claim, hardware_class)
        if standing.status != "unmeasured" or not claim.metric.carries_over:
            return standing.status
        found = {other.status for other in self.standings[claim.id].values() if other.status != "unmeasured"}
        return found.pop() if len(found) == 1 else "disputed" if found else "unmeasured"


_UNMEASURED = Standing("unmeasured", "no evidence yet", None, None, (), ())


def board(tree: Tree) -> Board:
    """Judge every claim of a tree on every session that may speak for it."""
    return Board({claim.id: _standings(claim, tree) for claim in tree.claims.values()})


def _standings(claim: Claim, tree: Tree) -> dict[str, Standing]:
    if not isinstance(claim, MeasuredClaim):
        return {}
    sessions = [session for session in tree.sessions if speaks_for(session, claim)]
    classes = {*claim.scope.hardware, *(session.evidence.hardware_class for session in sessions)}
    return {
        name: _standing(claim, tree, [s for s in sessions if s.evidence.hardware_class == name])
        for name in sorted(classes)
    }


def speaks_for(session: Session, claim: MeasuredClaim) -> bool:
    """Whether a session measured both arms of a claim in its metric, at any of its points."""
    evidence = session.evidence
    if evidence.benchmark != claim.benchmark:
        return False
    runs = [run for run in evidence.runs if claim.metric.name in run.samples and run.point in claim.scope.points]
    return {claim.subject, claim.baseline} <= {run.arm for run in runs}


def _standing(claim: MeasuredClaim, tree: Tree, sessions: list[Session]) -> Standing:
    current = tree.benchmarks.get(claim.benchmark)
    void = tuple(s for s in sessions if s.evidence.benchmark_syntax_sha256 != current)
    known = [s for s in sessions if s not in void and s.evidence.hardware_class in tree.classes]
    counting = sorted(known, key=lambda s: (s.evidence.date, s.path), reverse=True)
    judged = [(s, judge(claim, s.evidence, tree.classes.get(s.evidence.hardware_class))) for s in counting]
    if not judged:
        return Standing("unmeasured", "its benchmark has changed" if void else "no evidence yet", None, None, (), void)
    newest, verdict = judged[0]
    status: Status = "disputed" if _disputed(judged) else verdict.verdict
    return Standing(status, verdict.reason, newest, verdict, tuple(judged[1:]), void)


def _disputed(judged: list[tuple[Session, SessionVerdict]]) -> bool:
    """One session supports and another reverses, on the same product and the same minor version of torch."""
    sides: dict[tuple[str, str], set[str]] = {}
    for session, verdict in judged:
        environment = session.evidence.environment
        key = (environment.product, ".".join(environment.versions.get("torch", "").split(".")[:2]))
        side = "reversed" if verdict.reason == "reversed" else verdict.verdict
        sides.setdefault(key, set()).add(side)
    return any({"supported", "reversed"} <= found for found in sides.values())

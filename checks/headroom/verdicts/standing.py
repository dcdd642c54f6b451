"""Compute each claim's status on each hardware class from all sessions."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from headroom.records.claims import Claim, MeasuredClaim, Point
from headroom.records.evidence import place
from headroom.records.facts import HardwareClass
from headroom.records.modelled_claims import ModelledClaim
from headroom.records.reported_claims import ReportedClaim
from headroom.records.sessions import Measured, Session
from headroom.records.tree import Tree
from headroom.verdicts.disputes import Dispute, dispute
from headroom.verdicts.formula_check import Computed, models
from headroom.verdicts.freshness import Age, AgeReference, age
from headroom.verdicts.judge import PointVerdict, SessionVerdict, judge_layout
from headroom.verdicts.noise_floor import Noise, deviations, timed
from headroom.verdicts.paired_blocks import RunLayout
from headroom.verdicts.reported_results import Reported, judge_reported
from headroom.verdicts.roofline import ALIKE, bounded

Status = Literal[
    "supported",
    "contradicted",
    "inconclusive",
    "flips",
    "disputed",
    "unmeasured",
    "cited",
    "modelled",
    "agrees",
    "disagrees",
    "mixed",
]


@dataclass(frozen=True, slots=True)
class Standing:
    """A claim's status on one hardware class, with its newest session that counts and all others."""

    status: Status
    reason: str
    session: Session | None
    verdict: SessionVerdict | None
    others: tuple[tuple[Session, SessionVerdict], ...]
    """Older sessions that count, newest first."""
    void: tuple[Session, ...]
    """Sessions of a benchmark that has changed since, which do not count."""
    age: Age | None = None
    """The age of the newest session; None if there is no session."""
    dispute: Dispute | None = None
    """The two sessions that disagree, if the status is ``disputed``."""

    def at(self, point: Point) -> PointVerdict | None:
        """Return the verdict at the only point that has all the given values; None if not exactly one point has."""
        points = self.verdict.points if self.verdict else ()
        fitting = [p for p in points if all(p.point.get(name) == value for name, value in point.items())]
        return fitting[0] if len(fitting) == 1 else None


@dataclass(frozen=True, slots=True)
class Board:
    """The standing of every claim on every hardware class that it names or was measured on."""

    standings: Mapping[str, Mapping[str, Standing]]
    noise: Noise = field(default_factory=Noise)
    """The noise floors of the hardware classes."""
    models: Mapping[str, Computed] = field(default_factory=dict)
    """The evaluated modelled claims, by id."""
    reported: Mapping[str, Reported] = field(default_factory=dict)
    """The verdicts on reported claims, by id."""

    def of(self, claim: Claim, hardware_class: str) -> Standing:
        """Return a claim's standing on a class; ``unmeasured`` if there is none."""
        return self.standings[claim.id].get(hardware_class, _UNMEASURED)

    def status(self, claim: Claim, hardware_class: str) -> Status:
        """Return a claim's status for pages about a hardware class.

        If the class has no evidence and the claim's metric carries over, return the status that all classes with
        evidence share, or ``disputed``.
        """
        if isinstance(claim, ModelledClaim):
            return self.models[claim.id].status
        if isinstance(claim, ReportedClaim):
            return self.reported[claim.id].status
        if not isinstance(claim, MeasuredClaim):
            return "cited"
        standing = self.of(claim, hardware_class)
        if standing.status != "unmeasured" or not claim.metric.carries_over:
            return standing.status
        found = {other.status for other in self.standings[claim.id].values() if other.status != "unmeasured"}
        return found.pop() if len(found) == 1 else "disputed" if found else "unmeasured"


_UNMEASURED = Standing("unmeasured", "no evidence yet", None, None, (), ())
_CHANGED = Age("void", "its benchmark has changed")


def judge_all(tree: Tree) -> Board:
    """Judge every claim of a tree by every session that measured it."""
    judge, noise = SessionJudge(tree), Noise()
    judged: dict[str, list[_Judged]] = defaultdict(list)
    for session in tree.sessions:
        found = judge.judge_session(session)
        noise.add(session, found.deviations)
        for claim, verdict in found.verdicts.items():
            judged[claim].append((session, verdict))
    reference = AgeReference.of(tree)
    standings = {
        claim.id: _standings(claim, tree, _within_noise(claim, judged[claim.id], noise), reference)
        for claim in tree.claims.values()
    }
    return Board(standings, noise, models(tree, standings), judge_reported(tree))


class JudgedSession(NamedTuple):
    """One session's verdicts and noise."""

    verdicts: Mapping[str, SessionVerdict | None]
    """The verdict by id of each measured claim; None if its benchmark has changed or its class is unknown."""
    deviations: list[float]
    """The result of ``deviations``; empty if the machine is not of its class or nothing was timed."""


class SessionJudge:
    """Judges the claims of a tree by one session at a time."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._classes: dict[tuple[object, ...], HardwareClass | None] = {}
        self._claims = _ClaimIndex(tree)

    def judge_session(self, session: Session) -> JudgedSession:
        """Judge every claim that a session measured."""
        hardware, layout = self._class(session), RunLayout(session.evidence)
        current = self._tree.benchmarks.get(session.head.benchmark) == session.head.benchmark_syntax_sha256
        verdicts = {
            name: judge_layout(claim, layout, hardware) if hardware and current else None
            for name, claim in self._claims.claims_measured_by(session).items()
        }
        on_its_class = hardware is not None and hardware.holds(session.head.environment)
        return JudgedSession(verdicts, deviations(layout) if on_its_class and timed(session.head) else [])

    def _class(self, session: Session) -> HardwareClass | None:
        """Return the class of a session's machine, bounded by the measurements of machines like it."""
        found, environment = session.head.hardware_class, session.head.environment
        key = (found, *(getattr(environment, name) for name in ALIKE))
        if key not in self._classes:
            known = self._tree.classes.get(found)
            self._classes[key] = known and bounded(known, self._tree.machines, environment)
        return self._classes[key]


_Judged = tuple[Session, SessionVerdict | None]
"""A session and its verdict; None if it does not count."""


class _ClaimIndex:
    """The measured claims of a tree by benchmark, metric, subject and point."""

    def __init__(self, tree: Tree) -> None:
        self._by_subject: dict[str, dict[Measured, list[tuple[MeasuredClaim, frozenset[Measured]]]]] = {}
        for claim in tree.measured():
            name, places = claim.metric.name, [place(point) for point in claim.scope.points]
            baselines = frozenset((name, claim.baseline, at) for at in places)
            by_subject = self._by_subject.setdefault(claim.benchmark, defaultdict(list))
            for at in places:
                by_subject[name, claim.subject, at].append((claim, baselines))

    def claims_measured_by(self, session: Session) -> dict[str, MeasuredClaim]:
        """Return, by id, the claims of which a session measured subject and baseline at any of the claim's points."""
        by_subject = self._by_subject.get(session.head.benchmark, {})
        found = {each[0].id: each for at in session.measured for each in by_subject.get(at, ())}
        return {name: claim for name, (claim, of_it) in found.items() if not of_it.isdisjoint(session.measured)}


def _within_noise(claim: Claim, judged: list[_Judged], noise: Noise) -> list[_Judged]:
    """Apply each session's noise floor to its verdict, if the claim is about times."""
    if not (isinstance(claim, MeasuredClaim) and claim.metric.kind.timed):
        return judged
    return [(session, verdict and noise.apply(claim, session, verdict)) for session, verdict in judged]


def _standings(claim: Claim, tree: Tree, judged: list[_Judged], reference: AgeReference) -> dict[str, Standing]:
    if not isinstance(claim, MeasuredClaim):
        return {}
    found: dict[str, list[_Judged]] = {name: [] for name in claim.scope.hardware}
    for session, verdict in judged:
        found.setdefault(session.head.hardware_class, []).append((session, verdict))
    return {name: _standing(claim, tree, found[name], reference) for name in sorted(found)}


def _standing(claim: MeasuredClaim, tree: Tree, judged: list[_Judged], reference: AgeReference) -> Standing:
    current = tree.benchmarks.get(claim.benchmark)
    void = tuple(session for session, _ in judged if session.head.benchmark_syntax_sha256 != current)
    counting = [(session, verdict) for session, verdict in judged if verdict]
    ordered = sorted(counting, key=lambda each: (*each[0].head.moment, each[0].path), reverse=True)
    if not ordered:
        return replace(_UNMEASURED, reason=_CHANGED.reason, void=void, age=_CHANGED) if void else _UNMEASURED
    newest, verdict = ordered[0]
    found = dispute(ordered)
    status: Status = "disputed" if found else verdict.verdict
    how_old = age(claim.freshness, newest.head, reference)
    return Standing(status, verdict.reason, newest, verdict, tuple(ordered[1:]), void, how_old, found)

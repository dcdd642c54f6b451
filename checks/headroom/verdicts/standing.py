"""Where each claim stands on each hardware class today."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from headroom.cache import Cache
from headroom.records.claims import Claim, MeasuredClaim, Point
from headroom.records.evidence import place
from headroom.records.facts import HardwareClass
from headroom.records.modelled import ModelledClaim
from headroom.records.sessions import Folder, Measured, Session
from headroom.records.tree import Tree, load
from headroom.verdicts.disputes import Dispute, dispute
from headroom.verdicts.freshness import Age, Present, age
from headroom.verdicts.judge import PointVerdict, SessionVerdict, judge_layout
from headroom.verdicts.modelled import Computed, models
from headroom.verdicts.noise import Noise, deviations, timed
from headroom.verdicts.pairs import Layout
from headroom.verdicts.remembered import Memory, Told, Verdicts
from headroom.verdicts.roofline import ALIKE, bounded

Status = Literal["supported", "contradicted", "inconclusive", "flips", "disputed", "unmeasured", "cited", "modelled"]


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
    age: Age | None = None
    """How old what the status rests on is; None where there is no session at all."""
    dispute: Dispute | None = None
    """The two sessions that disagree, where it is disputed."""

    def at(self, point: Point) -> PointVerdict | None:
        """The verdict at a point that fits: every value given must be the point's; None where not exactly one fits."""
        points = self.verdict.points if self.verdict else ()
        fitting = [p for p in points if all(p.point.get(name) == value for name, value in point.items())]
        return fitting[0] if len(fitting) == 1 else None


@dataclass(frozen=True, slots=True)
class Board:
    """Every claim on every hardware class that it is meant for or was measured on."""

    standings: Mapping[str, Mapping[str, Standing]]
    noise: Noise = field(default_factory=Noise)
    """How far times of each hardware class differ where nothing does."""
    models: Mapping[str, Computed] = field(default_factory=dict)
    """What each modelled claim comes to."""

    def of(self, claim: Claim, hardware_class: str) -> Standing:
        """Where a claim stands on a class; ``unmeasured`` where nothing is known."""
        return self.standings[claim.id].get(hardware_class, _UNMEASURED)

    def status(self, claim: Claim, hardware_class: str) -> Status:
        """What a page about this class may say of a claim.

        A claim whose metric carries over takes the status that every class with evidence agrees on.
        """
        if isinstance(claim, ModelledClaim):
            return self.models[claim.id].status
        if not isinstance(claim, MeasuredClaim):
            return "cited"
        standing = self.of(claim, hardware_class)
        if standing.status != "unmeasured" or not claim.metric.carries_over:
            return standing.status
        found = {other.status for other in self.standings[claim.id].values() if other.status != "unmeasured"}
        return found.pop() if len(found) == 1 else "disputed" if found else "unmeasured"


_UNMEASURED = Standing("unmeasured", "no evidence yet", None, None, (), ())
_CHANGED = Age("void", "its benchmark has changed")


def board(tree: Tree) -> Board:
    """Judge every claim of a tree on every session that may speak for it."""
    hearing = Hearing(tree, Cache())
    for session in tree.sessions:
        hearing.listen(session)
    return hearing.board(tree)


def read(root: Path | str, cache: Cache | None = None) -> tuple[Tree, Board]:
    """Read a tree and judge it, each session while it is at hand, and nothing that a cache holds."""
    hearing: Hearing

    def begin(tree: Tree) -> Callable[[Folder], list[Session]]:
        """Hear the folders of a tree of which all but the sessions has been read."""
        nonlocal hearing
        hearing = Hearing(tree, cache or Cache())
        return hearing.hear

    tree = load(root, begin, cache)
    return tree, hearing.board(tree)


class Hearing:
    """What the sessions of a tree say of its claims, heard one by one."""

    def __init__(self, tree: Tree, cache: Cache) -> None:
        self._tree = tree
        self._memory = Memory(cache, tree)
        self._noise = Noise()
        self._classes: dict[tuple[object, ...], HardwareClass | None] = {}
        self._claims = _Claims(tree)
        self._heard: dict[str, list[_Heard]] = defaultdict(list)
        self._laid_out: tuple[Session, Layout] | None = None

    def hear(self, folder: Folder) -> list[Session]:
        """Hear the sessions of a folder, but for what is known of them, and say which they are."""
        key = self._memory.key(folder)
        told = self._memory.sessions(folder, key) if key else None
        if key is None or told is None:
            return self._anew(folder)
        sessions = [self._noted(*each) for each in told]
        for claim in self._claims.of(folder.benchmark):
            verdicts = self._memory.verdicts(key, claim)
            if verdicts is None:
                spoken = [(i, each) for i, each in enumerate(sessions) if claim.id in self._claims.spoken_for(each)]
                verdicts = {number: self._verdict(claim, session) for number, session in spoken}
                self._memory.keep_verdicts(key, claim, verdicts)
            self._heard[claim.id] += [(sessions[number], verdict) for number, verdict in verdicts.items()]
        return sessions

    def _anew(self, folder: Folder) -> list[Session]:
        """Hear every session of a folder while its runs are at hand."""
        verdicts: dict[str, Verdicts] = defaultdict(dict)
        told = []
        for number, session in enumerate(folder.sessions()):
            said, deviated = self.listen(session)
            told.append(Told(session, deviated))
            for name, verdict in said.items():
                verdicts[name][number] = verdict
        key = self._memory.keep_sessions(folder, told)
        if key:
            for claim in self._claims.of(folder.benchmark):
                self._memory.keep_verdicts(key, claim, verdicts[claim.id])
        return [session for session, _ in told]

    def listen(self, session: Session) -> tuple[dict[str, SessionVerdict | None], list[float]]:
        """All that a session says, noted as well: of each claim that it speaks for, and how far it is from itself."""
        said = {name: self._verdict(claim, session) for name, claim in self._claims.spoken_for(session).items()}
        for claim, verdict in said.items():
            self._heard[claim].append((session, verdict))
        deviated = self._deviations(session)
        self._noted(session, deviated)
        return said, deviated

    def _noted(self, session: Session, deviated: list[float]) -> Session:
        self._noise.take(session, deviated)
        return session

    def _verdict(self, claim: MeasuredClaim, session: Session) -> SessionVerdict | None:
        """What a session says of a claim that it speaks for; None where it does not count."""
        hardware = self._class(session)
        if not hardware or self._tree.benchmarks.get(session.head.benchmark) != session.head.benchmark_syntax_sha256:
            return None
        return judge_layout(claim, self._layout(session), hardware)

    def _deviations(self, session: Session) -> list[float]:
        """How far its baselines are from themselves, where it has times and its machine is of its class."""
        hardware = self._class(session)
        own = timed(session.head) and hardware is not None and hardware.holds(session.head.environment)
        return deviations(self._layout(session)) if own else []

    def _layout(self, session: Session) -> Layout:
        if self._laid_out is None or self._laid_out[0] is not session:
            self._laid_out = (session, Layout(session.evidence))
        return self._laid_out[1]

    def board(self, tree: Tree) -> Board:
        """Where every claim stands after all sessions have been heard."""
        present = Present.of(tree)
        standings = {claim.id: _standings(claim, tree, self._held(claim), present) for claim in tree.claims.values()}
        return Board(standings, self._noise, models(tree, standings))

    def _held(self, claim: Claim) -> "list[_Heard]":
        """What was heard of a claim, held to the noise floor of each session."""
        heard = self._heard.get(claim.id, [])
        if not (isinstance(claim, MeasuredClaim) and claim.metric.kind.timed):
            return heard
        return [(session, verdict and self._noise.held(claim, session, verdict)) for session, verdict in heard]

    def _class(self, session: Session) -> HardwareClass | None:
        """The class of a session's machine, bounded by what machines like it were seen to reach."""
        found, environment = session.head.hardware_class, session.head.environment
        key = (found, *(getattr(environment, name) for name in ALIKE))
        if key not in self._classes:
            known = self._tree.classes.get(found)
            self._classes[key] = known and bounded(known, self._tree.machines, environment)
        return self._classes[key]


_Heard = tuple[Session, SessionVerdict | None]
"""A session and its verdict, None where it does not count."""


class _Claims:
    """The measured claims of a tree, by what must have been measured by a session that speaks for them."""

    def __init__(self, tree: Tree) -> None:
        self._of: dict[str, list[MeasuredClaim]] = defaultdict(list)
        self._by_subject: dict[str, dict[Measured, list[tuple[MeasuredClaim, frozenset[Measured]]]]] = {}
        for claim in tree.measured():
            self._of[claim.benchmark].append(claim)
            name, places = claim.metric.name, [place(point) for point in claim.scope.points]
            baselines = frozenset((name, claim.baseline, at) for at in places)
            by_subject = self._by_subject.setdefault(claim.benchmark, defaultdict(list))
            for at in places:
                by_subject[name, claim.subject, at].append((claim, baselines))

    def of(self, benchmark: str) -> list[MeasuredClaim]:
        """The claims of a benchmark."""
        return self._of.get(benchmark, [])

    def spoken_for(self, session: Session) -> dict[str, MeasuredClaim]:
        """The claims, by their ids, of which a session has measured both arms in the metric, at any of their points."""
        by_subject = self._by_subject.get(session.head.benchmark, {})
        found = {each[0].id: each for at in session.measured for each in by_subject.get(at, ())}
        return {name: claim for name, (claim, of_it) in found.items() if not of_it.isdisjoint(session.measured)}


def _standings(claim: Claim, tree: Tree, heard: list[_Heard], present: Present) -> dict[str, Standing]:
    if not isinstance(claim, MeasuredClaim):
        return {}
    found: dict[str, list[_Heard]] = {name: [] for name in claim.scope.hardware}
    for session, verdict in heard:
        found.setdefault(session.head.hardware_class, []).append((session, verdict))
    return {name: _standing(claim, tree, found[name], present) for name in sorted(found)}


def _standing(claim: MeasuredClaim, tree: Tree, heard: list[_Heard], present: Present) -> Standing:
    current = tree.benchmarks.get(claim.benchmark)
    void = tuple(session for session, _ in heard if session.head.benchmark_syntax_sha256 != current)
    counting = [(session, verdict) for session, verdict in heard if verdict]
    judged = sorted(counting, key=lambda each: (*each[0].head.moment, each[0].path), reverse=True)
    if not judged:
        return replace(_UNMEASURED, reason=_CHANGED.reason, void=void, age=_CHANGED) if void else _UNMEASURED
    newest, verdict = judged[0]
    found = dispute(judged)
    status: Status = "disputed" if found else verdict.verdict
    how_old = age(claim.freshness, newest.head, present)
    return Standing(status, verdict.reason, newest, verdict, tuple(judged[1:]), void, how_old, found)

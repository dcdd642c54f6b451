"""Where each claim stands on each hardware class today."""

from collections import defaultdict
from collections.abc import Mapping
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
from headroom.verdicts.remembered import Memory, Said
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
    hearing = Hearing(Cache())
    for session in tree.sessions:
        hearing.take(session, hearing.say(tree, session))
    return hearing.board(tree)


def read(root: Path | str, cache: Cache | None = None) -> tuple[Tree, Board]:
    """Read a tree and judge it, each session while it is at hand, and nothing that a cache holds."""
    hearing = Hearing(cache or Cache())
    tree = load(root, hearing.hear, cache)
    return tree, hearing.board(tree)


class Hearing:
    """What the sessions of a tree say of its claims, heard one by one."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._memory: Memory | None = None
        self._noise = Noise()
        self._classes: dict[tuple[object, ...], HardwareClass | None] = {}
        self._claims: dict[str, dict[Measured, list[_Placed]]] | None = None
        self._heard: dict[str, list[_Heard]] = defaultdict(list)
        self._laid_out: tuple[Session, Layout] | None = None

    def hear(self, tree: Tree, folder: Folder) -> list[Session]:
        """Hear the sessions of a folder, unless it is known what they said when they were heard before."""
        self._memory = self._memory or Memory(self._cache, tree)
        told = self._memory.recall(folder)
        if told is None:
            told = [(session, self.say(tree, session)) for session in folder.sessions()]
            self._memory.keep(folder, told)
        for session, said in told:
            self.take(session, said)
        return [session for session, _ in told]

    def take(self, session: Session, said: Said) -> None:
        """Note what a session says."""
        self._noise.take(session, said.deviations)
        for claim, verdict in said.verdicts.items():
            self._heard[claim].append((session, verdict))

    def say(self, tree: Tree, session: Session) -> Said:
        """What a session says of the claims that it speaks for: of those it has measured both arms at some point."""
        if self._claims is None:
            self._claims = _by_measurement(tree)
        head = session.head
        claims = self._claims.get(head.benchmark, {})
        found = {each[0].id: each for at in session.measured for each in claims.get(at, ())}
        hardware = self._class(tree, session)
        current = tree.benchmarks.get(head.benchmark) == head.benchmark_syntax_sha256
        verdicts = {
            claim.id: self._judged(claim, session, hardware) if hardware and current else None
            for claim, baselines in found.values()
            if not baselines.isdisjoint(session.measured)
        }
        own = timed(head) and hardware is not None and hardware.holds(head.environment)
        return Said(verdicts, deviations(self._layout(session)) if own else [])

    def _judged(self, claim: MeasuredClaim, session: Session, hardware: HardwareClass) -> SessionVerdict:
        return judge_layout(claim, self._layout(session), hardware)

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

    def _class(self, tree: Tree, session: Session) -> HardwareClass | None:
        """The class of a session's machine, bounded by what machines like it were seen to reach."""
        found, environment = session.head.hardware_class, session.head.environment
        key = (found, *(getattr(environment, name) for name in ALIKE))
        if key not in self._classes:
            known = tree.classes.get(found)
            self._classes[key] = known and bounded(known, tree.machines, environment)
        return self._classes[key]


_Placed = tuple[MeasuredClaim, frozenset[Measured]]
"""A claim, and what may be measured of its baseline at its points."""
_Heard = tuple[Session, SessionVerdict | None]
"""A session and its verdict, None where it does not count."""


def _by_measurement(tree: Tree) -> dict[str, dict[Measured, list[_Placed]]]:
    """The claims of each benchmark by what must have been measured of their subject at one of their points."""
    found: dict[str, dict[Measured, list[_Placed]]] = defaultdict(lambda: defaultdict(list))
    for claim in tree.measured():
        name, places = claim.metric.name, [place(point) for point in claim.scope.points]
        baselines = frozenset((name, claim.baseline, at) for at in places)
        for at in places:
            found[claim.benchmark][name, claim.subject, at].append((claim, baselines))
    return found


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

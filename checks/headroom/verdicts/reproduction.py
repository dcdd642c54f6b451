"""Compare a new session with the registry's sessions: their verdicts, agreement and differing conditions."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from headroom.records.claims import MeasuredClaim
from headroom.records.evidence import Evidence
from headroom.records.sessions import Session
from headroom.records.tree import Tree
from headroom.verdicts.judge import PointVerdict, SessionVerdict, judge
from headroom.verdicts.session_diff import Difference, differences, unknown
from headroom.verdicts.standing import Standing, Status, judge_all

Agreement = Literal["agree", "apart", "undecided", "differ", "opposite"]

MEANING: dict[Agreement, str] = {
    "agree": "They agree: the verdicts are the same, and the intervals overlap.",
    "apart": "The verdicts are the same, but the intervals do not overlap: the size of the effect differs.",
    "undecided": "One of the two is inconclusive, so they neither agree nor disagree.",
    "differ": "They disagree: the verdicts differ.",
    "opposite": "They contradict each other: one supports the claim, and the other shows the reverse.",
}
"""The meaning of each agreement, in decreasing order of agreement."""


@dataclass(frozen=True, slots=True)
class ComparedSession:
    """The registry's newest session on one hardware class, compared with a new one."""

    hardware_class: str
    session: Session
    status: Status
    """The claim's status on that class without the new session."""
    points: tuple[PointVerdict, ...]
    agreement: Agreement
    """The agreement at the asserted point at which the two agree least."""
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]
    """Fields that are unknown for both machines."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A new session, its verdict on a claim, and the registry's sessions that it is compared with."""

    claim: MeasuredClaim
    evidence: Evidence
    hardware_class: str | None
    """None if the machine belongs to no class."""
    verdict: SessionVerdict
    before: Status
    """The claim's status on this class in the registry."""
    after: Status
    """The claim's status on this class if the session were in the registry."""
    compared: tuple[ComparedSession, ...]


def reproduction(tree: Tree, claim: MeasuredClaim, evidence: Evidence, path: str) -> Reproduction:
    """Judge a new session, and compare it with the registry's newest session of its class, or else of each class.

    Args:
        tree: the registry, without the new session.
        claim: the claim that was measured again.
        evidence: the new session.
        path: its path if it were in the registry.
    """
    name = evidence.hardware_class
    verdict = judge(claim, evidence, tree.classes.get(name))
    known = tuple(session for session in tree.sessions if session.head.benchmark == claim.benchmark)
    own = replace(tree, claims={claim.id: claim}, sessions=known)
    joined = replace(own, sessions=(*known, Session(path, evidence)))
    before, after = judge_all(own), judge_all(joined)
    held = {each: standing for each, standing in before.standings[claim.id].items() if standing.session}
    return Reproduction(
        claim=claim,
        evidence=evidence,
        hardware_class=name if name in tree.classes else None,
        verdict=verdict,
        before=before.of(claim, name).status,
        after=after.of(claim, name).status,
        compared=tuple(_compare({name: held[name]} if name in held else held, verdict, evidence)),
    )


def _compare(held: dict[str, Standing], verdict: SessionVerdict, evidence: Evidence) -> Iterator[ComparedSession]:
    for name, standing in held.items():
        if standing.session and standing.verdict:
            there = standing.session.head
            yield ComparedSession(
                hardware_class=name,
                session=standing.session,
                status=standing.status,
                points=standing.verdict.points,
                agreement=_least(verdict, standing.verdict),
                differences=tuple(differences(evidence, there)),
                unknown=unknown(evidence, there),
            )


def _least(here: SessionVerdict, there: SessionVerdict) -> Agreement:
    """Return the agreement at the asserted point at which two sessions agree least."""
    pairs = zip(here.points, there.points, strict=True)
    return max((agreement(a, b) for a, b in pairs if a.asserted), key=list(MEANING).index)


def agreement(here: PointVerdict, there: PointVerdict) -> Agreement:
    """Return how far two verdicts on one point agree."""
    words = {here.verdict, there.verdict}
    if "inconclusive" in words:
        return "undecided"
    if len(words) == 1:
        return "agree" if here.low <= there.high and there.low <= here.high else "apart"
    return "opposite" if "reversed" in (here.reason, there.reason) else "differ"

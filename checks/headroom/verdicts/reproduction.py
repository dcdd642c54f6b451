"""A session that was just measured, beside those that the registry holds: what each says, and whether they agree."""

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
    "apart": "The verdicts are the same, and the intervals lie apart: the size of the effect is another here.",
    "undecided": "One of the two does not decide, so they neither agree nor disagree.",
    "differ": "They disagree: the verdicts are not the same.",
    "opposite": "They say the opposite of one another: one supports what the other sees reversed.",
}
"""Every agreement in words, the least of them last."""


@dataclass(frozen=True, slots=True)
class Beside:
    """The registry's newest session on one hardware class, beside a new one."""

    hardware_class: str
    session: Session
    status: Status
    """Where the claim stands on that class without the new session."""
    points: tuple[PointVerdict, ...]
    agreement: Agreement
    """That of the asserted point at which the two agree least."""
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]
    """What is known of neither machine."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A new session, what it says of a claim, and what the registry has to lay beside it."""

    claim: MeasuredClaim
    evidence: Evidence
    hardware_class: str | None
    """None where the machine is of no class."""
    verdict: SessionVerdict
    before: Status
    """Where the claim stands on this class."""
    after: Status
    """Where it would stand if the session were in the registry."""
    beside: tuple[Beside, ...]


def reproduction(tree: Tree, claim: MeasuredClaim, evidence: Evidence, path: str) -> Reproduction:
    """Judge a new session, and lay beside it what the registry holds: of the same class, or else of each.

    Args:
        tree: the registry, without the new session.
        claim: what was measured again.
        evidence: the new session.
        path: where it would lie in the registry.
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
        beside=tuple(_besides({name: held[name]} if name in held else held, verdict, evidence)),
    )


def _besides(held: dict[str, Standing], verdict: SessionVerdict, evidence: Evidence) -> Iterator[Beside]:
    for name, standing in held.items():
        if standing.session and standing.verdict:
            there = standing.session.head
            yield Beside(
                hardware_class=name,
                session=standing.session,
                status=standing.status,
                points=standing.verdict.points,
                agreement=_least(verdict, standing.verdict),
                differences=tuple(differences(evidence, there)),
                unknown=unknown(evidence, there),
            )


def _least(here: SessionVerdict, there: SessionVerdict) -> Agreement:
    """The agreement of the asserted point at which two sessions agree least."""
    pairs = zip(here.points, there.points, strict=True)
    return max((agreement(a, b) for a, b in pairs if a.asserted), key=list(MEANING).index)


def agreement(here: PointVerdict, there: PointVerdict) -> Agreement:
    """How far two verdicts on one point agree."""
    words = {here.verdict, there.verdict}
    if "inconclusive" in words:
        return "undecided"
    if len(words) == 1:
        return "agree" if here.low <= there.high and there.low <= here.high else "apart"
    return "opposite" if "reversed" in (here.reason, there.reason) else "differ"

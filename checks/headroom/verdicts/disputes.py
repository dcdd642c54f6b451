"""Disputes: two sessions that say the opposite where nothing that is recorded explains it."""

from collections.abc import Sequence
from dataclasses import dataclass

from headroom.records.evidence import Head
from headroom.records.sessions import Session
from headroom.verdicts.judge import SessionVerdict

Judged = tuple[Session, SessionVerdict]
SETTLED = 3
"""So many sessions in a row that agree end a dispute. By chance one says the opposite at most once in a hundred."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """The newest session of each side."""

    supported: Judged
    reversed: Judged

    @property
    def sides(self) -> tuple[Judged, Judged]:
        """Both."""
        return self.supported, self.reversed


def dispute(judged: Sequence[Judged]) -> Dispute | None:
    """What is open between sessions of one claim on one hardware class, which come newest first.

    One supports the claim and another reverses it, on the same product and the same minor version of torch, the one
    that the product was last measured with; and those that came last do not agree yet.
    """
    if not {"supported", "reversed"} <= {_side(verdict) for _, verdict in judged}:
        return None
    alike: dict[str, tuple[str, list[tuple[str, Judged]]]] = {}
    for session, verdict in judged:
        version = _minor(session.head)
        newest, sides = alike.setdefault(session.head.environment.product, (version, []))
        side = _side(verdict)
        if version == newest and side in ("supported", "reversed"):
            sides.append((side, (session, verdict)))
    found = (_open(sides) for _, sides in alike.values())
    return next((each for each in found if each), None)


def _open(sides: list[tuple[str, Judged]]) -> Dispute | None:
    """The dispute between sessions of either side, newest first, unless the last ones agree."""
    if len({side for side, _ in sides[:SETTLED]}) <= 1:
        return None
    newest = dict(reversed(sides))
    return Dispute(newest["supported"], newest["reversed"])


def _side(verdict: SessionVerdict) -> str:
    return "reversed" if verdict.reason == "reversed" else verdict.verdict


def _minor(head: Head) -> str:
    return ".".join(head.environment.versions.get("torch", "").split(".")[:2])

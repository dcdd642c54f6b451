"""Find disputes: sessions on the same product and torch version with opposite verdicts on a claim."""

from collections.abc import Sequence
from dataclasses import dataclass

from headroom.records.evidence import Head
from headroom.records.sessions import Session
from headroom.verdicts.judge import SessionVerdict

Judged = tuple[Session, SessionVerdict]
SETTLED = 3
"""Number of consecutive newest sessions that must agree to settle a dispute; each errs at most once in a hundred."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """The newest session of each side, with its verdict."""

    supported: Judged
    reversed: Judged

    @property
    def sides(self) -> tuple[Judged, Judged]:
        """Return both sides."""
        return self.supported, self.reversed


def dispute(judged: Sequence[Judged]) -> Dispute | None:
    """Return the open dispute between sessions of one claim on one hardware class, given newest first; None if none.

    A dispute is open if one session supports the claim and another reverses it, both on the same product and on the
    minor version of torch that the product was last measured with, and the newest sessions do not agree yet.
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
    """Return the dispute between sessions, given newest first; None if the newest ones agree."""
    if len({side for side, _ in sides[:SETTLED]}) <= 1:
        return None
    newest = dict(reversed(sides))
    return Dispute(newest["supported"], newest["reversed"])


def _side(verdict: SessionVerdict) -> str:
    return "reversed" if verdict.reason == "reversed" else verdict.verdict


def _minor(head: Head) -> str:
    return ".".join(head.environment.versions.get("torch", "").split(".")[:2])

"""How a claim came to stand where it stands on one hardware class, session by session. Nothing of it is stored.

The claim, the rules and the statistics are today's; the sessions are those that there were at each moment.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from headroom.records.sessions import Session
from headroom.verdicts.disputes import Judged, dispute
from headroom.verdicts.judge import SessionVerdict
from headroom.verdicts.standing import Standing, Status


@dataclass(frozen=True, slots=True)
class Step:
    """What one session made of a claim."""

    session: Session
    verdict: SessionVerdict | None
    """What it says by itself; None where it does not count, since its benchmark has changed."""
    before: Status
    after: Status
    """What a page said after it, from it and every session before it."""


def steps(standing: Standing) -> Iterator[Step]:
    """Every session on one hardware class, the oldest first."""
    known: list[tuple[Session, SessionVerdict | None]] = [*standing.others, *((each, None) for each in standing.void)]
    if standing.session is not None:
        known.append((standing.session, standing.verdict))
    known.sort(key=lambda each: (*each[0].head.moment, each[0].path))
    counting: list[Judged] = []  # the newest first
    status: Status = "unmeasured"
    for session, verdict in known:
        before = status
        if verdict is not None:
            counting.insert(0, (session, verdict))
            status = "disputed" if dispute(counting) else verdict.verdict
        yield Step(session, verdict, before, status)

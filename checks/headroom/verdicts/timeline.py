"""Compute the history of a claim's status on one hardware class, session by session.

It applies today's claim, rules and statistics to the sessions that existed at each moment.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from headroom.records.sessions import Session
from headroom.verdicts.disputes import Judged, dispute
from headroom.verdicts.judge import SessionVerdict
from headroom.verdicts.standing import Standing, Status


@dataclass(frozen=True, slots=True)
class Step:
    """The change of a claim's status by one session."""

    session: Session
    verdict: SessionVerdict | None
    """The session's own verdict; None if it does not count, because its benchmark has changed."""
    before: Status
    after: Status
    """The status from this session and all before it."""


def steps(standing: Standing) -> Iterator[Step]:
    """Yield a step per session on one hardware class, oldest first."""
    known: list[tuple[Session, SessionVerdict | None]] = [*standing.others, *((each, None) for each in standing.void)]
    if standing.session is not None:
        known.append((standing.session, standing.verdict))
    known.sort(key=lambda each: (*each[0].head.moment, each[0].path))
    counting: list[Judged] = []  # newest first
    status: Status = "unmeasured"
    for session, verdict in known:
        before = status
        if verdict is not None:
            counting.insert(0, (session, verdict))
            status = "disputed" if dispute(counting) else verdict.verdict
        yield Step(session, verdict, before, status)

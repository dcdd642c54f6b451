"""The history of a claim: its verdict after each session, and its retirement."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from headroom.io.markdown_escape import text
from headroom.records import Claim, MeasuredClaim, Session
from headroom.site.claims import phrasing
from headroom.site.markdown_blocks import folded, heading, table
from headroom.site.site_data import PageContext, SiteData, evidence_file
from headroom.verdicts.standing import Status
from headroom.verdicts.timeline import Step, steps

_FEW = 8
"""The number of rows that a page shows unfolded."""
State = Status | Literal["retired"]


@dataclass(frozen=True, slots=True)
class Event:
    """One row of a history, dated by its evidence or record."""

    claim: Claim
    day: str
    time: str
    """In UTC; empty if the record has none."""
    before: State
    after: State
    why: str
    hardware: str = ""
    """The class; empty for a retirement."""
    step: Step | None = None

    @property
    def changed(self) -> bool:
        """Whether it changed the verdict."""
        return self.before != self.after

    @property
    def first(self) -> bool:
        """Whether it is the first measurement."""
        return self.before == "unmeasured" and self.after not in ("unmeasured", "retired")

    @property
    def order(self) -> tuple[str, ...]:
        """The sort key."""
        return self.day, self.time, self.claim.id, self.hardware

    @property
    def named(self) -> tuple[str, str]:
        """Both states as badges name them."""
        return _named(self.before), _named(self.after)


def events(claim: Claim, site: SiteData) -> list[Event]:
    """Return a claim's events, the oldest first."""
    found = [
        Event(
            claim, step.session.head.date, step.session.head.time or "", step.before, step.after, _why(step), name, step
        )
        for name, standing in site.board.standings[claim.id].items()
        for step in steps(standing)
    ]
    found.sort(key=lambda event: event.order)
    if claim.retired:
        before: State = found[-1].after if found else _without_history(claim, site)
        why = claim.retired.why + (f"; superseded by {claim.retired.superseded_by}" * bool(claim.retired.superseded_by))
        found.append(Event(claim, claim.retired.since, "", before, "retired", why))
    return found


def _without_history(claim: Claim, site: SiteData) -> State:
    """Return the status of a claim without events."""
    if claim.kind == "reported":
        return site.board.reported[claim.id].status
    return "unmeasured" if claim.kind == "measured" else claim.kind


def section(claim: MeasuredClaim, site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the history section of a claim's page; nothing without events."""
    found = events(claim, site)
    if not found:
        return
    yield heading("History")
    several = len({event.hardware for event in found if event.hardware}) > 1
    shown = _table(found, site, page, several=several)
    if len(found) <= _FEW:
        yield shown
    else:
        last = next(event for event in reversed(found) if event.changed)
        title = f"{len(found)} entries; the verdict last changed on {phrasing.day(last.day)}"
        yield folded("note", title, shown)
    yield "Each verdict is computed from the sessions up to that day, with today's claim and rules."


def _table(found: list[Event], site: SiteData, page: PageContext, *, several: bool) -> str:
    head = ["day", *(["hardware"] if several else []), "session", "torch", "this session", "verdict after it", "why"]
    return table(head, (_row(event, site, page, several=several) for event in reversed(found)))


def _row(event: Event, site: SiteData, page: PageContext, *, several: bool) -> list[str]:
    place = [text(site.class_name(event.hardware)) if event.hardware else "all"] if several else []
    then = f"**{text(event.named[1])}**" if event.changed else text(event.named[1])
    if event.step is None:
        return [phrasing.day(event.day), *place, "–", "–", "–", then, text(event.why)]
    head, verdict = event.step.session.head, event.step.verdict
    alone = f"{verdict.verdict}: {phrasing.reason(verdict.reason)}" if verdict else "void"
    torch = head.environment.versions.get("torch", "unknown")
    return [
        phrasing.day(event.day),
        *place,
        _raw(event.step.session, page),
        text(torch),
        text(alone),
        then,
        text(event.why),
    ]


def _raw(session: Session, page: PageContext) -> str:
    return f"[{session.path.rpartition('-')[2].removesuffix('.json')}]({page.href(evidence_file(session.path))})"


def _named(state: State) -> str:
    return "retired" if state == "retired" else phrasing.BADGES[state]


def _why(step: Step) -> str:
    """Return why the verdict is what it is after a session."""
    if step.verdict is None:
        return "not counted: its benchmark has changed since"
    if step.before == "unmeasured":
        return "first evidence"
    if step.before == step.after:
        return "still open" if step.after == "disputed" else "confirmed"
    if step.after == "disputed":
        return "new evidence contradicts an older session"
    return "the dispute is settled" if step.before == "disputed" else "new evidence"

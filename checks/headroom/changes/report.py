"""What a change does, for a terminal and for a page, where every text of a record is escaped: a stranger wrote it."""

from collections.abc import Iterable, Iterator, Sequence

from headroom.changes.differences import Changes, Moved
from headroom.io.markdown_escape import text
from headroom.verdicts.summary import VerdictRow

_MOST = 200
"""Rows of a table: the summary of a workflow has room for a megabyte."""


def lines(changes: Changes) -> Iterator[str]:
    """A line for each thing that a change does; what may not be comes first."""
    yield from map(str, changes.problems)
    yield from (f"has a problem of its own, see `headroom check`: {path}" for path in changes.faulty)
    yield from (f"verdict: {_place(each)}: {_plain(each.before)} → {_plain(each.after)}" for each in changes.verdicts)
    yield from (
        f"new figures: {_place(each)}: {_plain(each.before)} → {_plain(each.after)}" for each in changes.renewed
    )
    yield from (f"claim added: {claim.id}: {claim.statement}" for claim in changes.added)
    yield from (f"claim retired: {claim.id}: {claim.statement}" for claim in changes.retired)
    yield from (f"claim changed: {each.claim}: {', '.join(each.fields)}" for each in changes.reworded)
    yield from (f"evidence added: {path}" for path in changes.evidence)
    yield from (f"touches what judges: {path}" for path in changes.judging)


def markdown(changes: Changes) -> str:
    """The same as Markdown, of bounded length."""
    return "\n\n".join(_sections(changes)) + "\n"


def summary(changes: Changes) -> str:
    """All of it counted, in one sentence."""
    claims = len(changes.added), len(changes.retired), len(changes.reworded)
    return (
        f"{_count(len(changes.verdicts), 'verdict')} changed, {len(changes.renewed)} renewed; "
        f"{_count(sum(claims), 'claim')} touched ({claims[0]} added, {claims[1]} retired, {claims[2]} changed); "
        f"{_count(len(changes.evidence), 'session')} added; {_count(len(changes.problems), 'problem')}"
    )


def _sections(changes: Changes) -> Iterator[str]:
    yield "## What this change does to the claims"
    yield f"{text(summary(changes))}. Base and change are both judged by the code that wrote this."
    yield from _list("What may not be", map(str, changes.problems))
    yield from _list("Has a problem of its own, which the checks name", changes.faulty)
    yield from _table("Verdicts that change", changes.verdicts)
    yield from _table("The same verdict on other evidence", changes.renewed)
    yield from _list("Claims added", (f"{claim.id}: {claim.statement}" for claim in changes.added))
    yield from _list("Claims retired", (f"{claim.id}: {claim.statement}" for claim in changes.retired))
    yield from _list(
        "Claims changed, and in which fields", (f"{each.claim}: {', '.join(each.fields)}" for each in changes.reworded)
    )
    yield from _list("Evidence added", changes.evidence)
    yield from _list("What decides what is found is touched; look at it first", changes.judging)


def _list(title: str, items: Iterable[str]) -> Iterator[str]:
    shown = [f"- {text(item)}" for item in items]
    if shown:
        yield f"### {title}"
        yield "\n".join(_bounded(shown))


def _table(title: str, moved: Sequence[Moved]) -> Iterator[str]:
    if not moved:
        return
    yield f"### {title}"
    rows = [[_at(each), each.hardware_class, _plain(each.before), _plain(each.after)] for each in moved]
    shown = _bounded([f"| {' | '.join(map(text, row))} |" for row in rows])
    yield "\n".join(["| claim | on | before | after |", "| --- | --- | --- | --- |", *shown])


def _bounded(rows: list[str]) -> list[str]:
    left = len(rows) - _MOST
    return rows if left <= 0 else [*rows[:_MOST], f"\nand {left} more"]


def _place(moved: Moved) -> str:
    return f"{_at(moved)} on {moved.hardware_class}"


def _at(moved: Moved) -> str:
    at = ", ".join(f"{name}={value}" for name, value in moved.point.items())
    return f"{moved.claim} at {at}" if at else moved.claim


def _plain(row: VerdictRow | None) -> str:
    """A verdict with its ratio and interval."""
    if row is None:
        return "not said"
    figures = "" if row.ratio is None else f", {row.ratio:.4g} [{row.low:.4g}, {row.high:.4g}], {row.n} blocks"
    return f"{row.status} ({row.reason}){figures}"


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'s' * (number != 1)}"

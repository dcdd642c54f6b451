"""Format the differences from an earlier commit as text and as Markdown; texts of records are escaped in Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from headroom.changes.differences import Changes, VerdictChange
from headroom.io.markdown_escape import text
from headroom.verdicts.summary import VerdictRow

_MOST = 200
"""Most rows of a table: GitHub limits a workflow's summary to one megabyte."""


def lines(changes: Changes) -> Iterator[str]:
    """Yield a line per difference; forbidden changes come first."""
    yield from map(str, changes.problems)
    yield from (f"has problems, run `headroom check`: {path}" for path in changes.faulty)
    yield from (f"verdict: {_place(each)}: {_plain(each.before)} → {_plain(each.after)}" for each in changes.verdicts)
    yield from (
        f"new figures: {_place(each)}: {_plain(each.before)} → {_plain(each.after)}" for each in changes.renewed
    )
    yield from (f"claim added: {claim.id}: {claim.statement}" for claim in changes.added)
    yield from (f"claim retired: {claim.id}: {claim.statement}" for claim in changes.retired)
    yield from (f"claim changed: {each.claim}: {', '.join(each.fields)}" for each in changes.reworded)
    yield from (f"evidence added: {path}" for path in changes.evidence)
    yield from (f"changes code that judges: {path}" for path in changes.judging)


def markdown(changes: Changes) -> str:
    """Return the differences as Markdown of bounded length."""
    return "\n\n".join(_sections(changes)) + "\n"


def summary(changes: Changes) -> str:
    """Return the counts of all differences, in one sentence."""
    claims = len(changes.added), len(changes.retired), len(changes.reworded)
    return (
        f"{_count(len(changes.verdicts), 'verdict')} changed, {len(changes.renewed)} renewed; "
        f"{_count(sum(claims), 'claim')} touched ({claims[0]} added, {claims[1]} retired, {claims[2]} changed); "
        f"{_count(len(changes.evidence), 'session')} added; {_count(len(changes.problems), 'problem')}"
    )


def _sections(changes: Changes) -> Iterator[str]:
    yield "## What this change does to the claims"
    yield f"{text(summary(changes))}. The same code, that of the base, has judged the base and the change."
    yield from _list("Forbidden changes", map(str, changes.problems))
    yield from _list("Files with problems, which `headroom check` reports", changes.faulty)
    yield from _table("Changed verdicts", changes.verdicts)
    yield from _table("Same verdicts, new evidence", changes.renewed)
    yield from _list("Claims added", (f"{claim.id}: {claim.statement}" for claim in changes.added))
    yield from _list("Claims retired", (f"{claim.id}: {claim.statement}" for claim in changes.retired))
    yield from _list(
        "Claims changed, with the changed fields",
        (f"{each.claim}: {', '.join(each.fields)}" for each in changes.reworded),
    )
    yield from _list("Evidence added", changes.evidence)
    yield from _list("Changed code that judges; review it first", changes.judging)


def _list(title: str, items: Iterable[str]) -> Iterator[str]:
    shown = [f"- {text(item)}" for item in items]
    if shown:
        yield f"### {title}"
        yield "\n".join(_bounded(shown))


def _table(title: str, moved: Sequence[VerdictChange]) -> Iterator[str]:
    if not moved:
        return
    yield f"### {title}"
    rows = [[_at(each), each.hardware_class, _plain(each.before), _plain(each.after)] for each in moved]
    shown = _bounded([f"| {' | '.join(map(text, row))} |" for row in rows])
    yield "\n".join(["| claim | on | before | after |", "| --- | --- | --- | --- |", *shown])


def _bounded(rows: list[str]) -> list[str]:
    left = len(rows) - _MOST
    return rows if left <= 0 else [*rows[:_MOST], f"\nand {left} more"]


def _place(moved: VerdictChange) -> str:
    return f"{_at(moved)} on {moved.hardware_class}"


def _at(moved: VerdictChange) -> str:
    at = ", ".join(f"{name}={value}" for name, value in moved.point.items())
    return f"{moved.claim} at {at}" if at else moved.claim


def _plain(row: VerdictRow | None) -> str:
    """Return a verdict with its ratio and interval or range."""
    if row is None:
        return "no verdict"
    return ", ".join(filter(None, (f"{row.status} ({row.reason})", row.figures)))


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'s' * (number != 1)}"

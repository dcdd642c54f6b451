"""The page of a reported claim: the rows, the conditions with their sources, what is unknown, and the licence."""

from collections.abc import Iterable, Iterator

from headroom.io.markdown_escape import text
from headroom.records import ReportedClaim
from headroom.records.published_comparisons import PublishedComparison
from headroom.records.published_rows import Row
from headroom.site.claims import phrasing
from headroom.site.claims.reported_claim import RAW, STAKES, amount, hardware, ratio, sentence, software_age, word
from headroom.site.markdown_blocks import badge, bullets, heading, not_claimed, table
from headroom.site.site_data import PageContext, SiteData
from headroom.verdicts.reported_results import Result

_MOST_ROWS = 12
_HOLDS = {
    "better": "the ratio is above {0:g}",
    "worse": "the ratio is below {1:.3g}",
    "not_worse": "the ratio is above {2:.3g}",
    "equal_within": "the ratio is within {2:.3g} to {3:g}",
}


def render(claim: ReportedClaim, site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the sections of a reported claim's page below the title."""
    found = site.board.reported[claim.id]
    yield f"{badge(found.status, word(found))} {text(sentence(claim, found))}"
    yield from _comparison(claim, site)
    several = len(found.results) > 1
    for result in found.results:
        yield from _result(result, several=several)
    yield from not_claimed(claim, page)


def _comparison(claim: ReportedClaim, site: SiteData) -> Iterator[str]:
    """Yield what is compared, and the results next to each other."""
    within = 1 + (claim.margin or 0)
    holds = _HOLDS[claim.relation].format(1 + claim.min_effect, 1 / (1 + claim.min_effect), 1 / within, within)
    yield heading("Comparison")
    yield bullets(
        [
            f"Compared: **{text(claim.subject)}** with the baseline **{text(claim.baseline)}**",
            f"Reported: {text(claim.metric.title)}. {text(claim.metric.counts)}",
            f"The rows agree when {text(holds)}. Above 1, the subject is better.",
        ]
    )
    head = ("source", "hardware", "baseline", "subject", "ratio", "verdict")
    yield table(head, map(_line, site.board.reported[claim.id].results))


def _line(result: Result) -> list[str]:
    record = result.record
    arms = [text(amount(result, each)) for each in (result.baseline, result.subject)]
    verdict = badge(result.word, result.word)
    return [_link(record), text(hardware(record)), *arms, text(ratio(result).removeprefix("ratio ")), verdict]


def _link(record: PublishedComparison) -> str:
    return f'<a href="{text(record.source.url)}">{text(record.source.title)}</a>'


def _result(result: Result, *, several: bool) -> Iterator[str]:
    record = result.record
    place = f": {text(record.source.title)}" if several else ""
    yield heading(f"Rows used{place}")
    yield from _rows(result)
    yield heading(f"Conditions{place}")
    yield bullets(_conditions(record))
    if record.exceptions:
        yield "The arms differ in more than the method:"
        yield bullets(text(each.what) for each in record.exceptions)
    yield heading(f"Source and licence{place}")
    yield bullets(_source(record))


def _rows(result: Result) -> Iterator[str]:
    """Yield what each arm's rows have in common, next to each other, and then what differs from row to row."""
    record = result.record
    arms = {"subject": result.rows[0][:_MOST_ROWS], "baseline": result.rows[1][:_MOST_ROWS]}
    columns = _shown_columns(record, [row for rows in arms.values() for row in rows])
    varied = [name for name in columns if any(len({row[name] for row in rows}) > 1 for rows in arms.values())]
    shared = ([name, *(rows[0][name] for rows in arms.values())] for name in columns if name not in varied)
    yield table(("column", *arms), map(_cells, shared))
    left_out = [name for name in varied if name in record.rows.outcomes and name not in _selecting(record)]
    shown = [name for name in varied if name not in left_out]
    if shown:
        cells = ([arm, *(row[name] for name in shown)] for arm, rows in arms.items() for row in rows)
        yield table(_cells(["role", *shown]), map(_cells, cells))
    yield " ".join(_about_rows(result, left_out))


def _about_rows(result: Result, left_out: list[str]) -> Iterator[str]:
    """Yield what one row is, and what the tables leave out."""
    yield f"Each row is {RAW[result.record.raw]}."
    if (more := sum(max(len(rows) - _MOST_ROWS, 0) for rows in result.rows)) > 0:
        yield f"{more} more rows are in the copy."
    if left_out:
        yield f"The copy also has these results of each row: {text(', '.join(left_out))}."


def _cells(values: Iterable[str]) -> list[str]:
    return [text(each) or "–" for each in values]


def _selecting(record: PublishedComparison) -> set[str | None]:
    """Return the columns by which rows are selected, paired and compared."""
    select, metric = record.select, record.metric
    return {*select.common, *select.subject, select.repeat, metric.column, metric.p20, metric.p80}


def _shown_columns(record: PublishedComparison, rows: list[Row]) -> list[str]:
    """Return the columns that select rows, and those that differ between rows."""
    wanted = _selecting(record)
    return [name for name in rows[0] if name in wanted or len({row[name] for row in rows}) > 1]


def _conditions(record: PublishedComparison) -> Iterator[str]:
    found = record.hardware
    versions = ", ".join(f"{name} {version}" for name, version in record.software.versions.items()) or "not stated"
    yield f"Hardware: {text(hardware(record))} (stated by {text(found.stated_by)})"
    yield f"Software: {text(versions)} (stated by {text(record.software.stated_by)}); {text(software_age(record))}"
    for each in record.conditions:
        yield f"{text(each.name)}: {text(each.value)} (stated by {text(each.stated_by)})"
    yield f"Not known: {text(', '.join(record.unknown))}"


def _source(record: PublishedComparison) -> Iterator[str]:
    source = record.source
    note = f" {text(source.stake_note)}" if source.stake_note else ""
    yield f"Measured by {text(source.measured_by)}: {STAKES[source.stake]}.{note}"
    place = f"{text(source.files[0].path)} at commit {source.commit[:12]}; {text(source.locator)}"
    yield f"Original: {_link(record)}, {place}"
    yield f"Retrieved on {phrasing.day(source.retrieved)}"
    if record.rows.transcribed:
        yield f"How the copy differs: {text(record.rows.transcribed)}"
    yield f"Copy: checks/published/{text(record.rows.file)}, SHA-256 {record.rows.sha256[:12]}…"
    licence = f"its text is checks/published/{text(source.licence_text)}"
    yield f"Licence: {text(source.licence)}, {text(source.copyright)}; {licence}"

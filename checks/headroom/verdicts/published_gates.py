"""Gates for published rows: an unchanged copy, a licence, the selected rows, values, arms that differ in the method."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from headroom.maths.units import UNITS
from headroom.records.published_comparisons import PublishedComparison
from headroom.records.published_rows import Published, Row, Table

_NUMBER = re.compile(r"[-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?", re.ASCII)


class Fault(NamedTuple):
    """A reason why a published comparison does not count: the field, what is wrong, and the remedy."""

    field: str
    message: str
    remedy: str


def faults(record: PublishedComparison, published: Published) -> list[Fault]:
    """Return the faults of the first gate that a comparison fails; none if its rows count."""
    table = published.tables.get(record.rows.file)
    if table is None:
        message = f"there are no rows `{record.rows.file}`"
        return [Fault("rows.file", message, "copy them to checks/published/, or correct the name")]
    gates: tuple[Callable[[PublishedComparison, Table], Iterator[Fault]], ...]
    gates = (_changed, _columns, _selected, _amounts, _ratios, _differences, _roofline)
    found = [*_licence(record, published)]
    return found or next((each for gate in gates if (each := list(gate(record, table)))), [])


def arms(record: PublishedComparison, published: Published) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Return the rows of subject and baseline, in the order of the column that numbers them."""
    table = published.tables[record.rows.file]
    return _arm(record, table, record.select.subject), _arm(record, table, record.select.baseline)


def value(cell: str) -> float:
    """Return a cell as a number; nan if it is none."""
    return float(cell.replace(",", "")) if _NUMBER.fullmatch(cell.strip()) else math.nan


def _arm(record: PublishedComparison, table: Table, own: Mapping[str, str]) -> tuple[Row, ...]:
    wanted = {**record.select.common, **own}
    rows = [row for row in table.rows if all(row[name] == cell for name, cell in wanted.items())]
    repeat = record.select.repeat
    return tuple(sorted(rows, key=lambda row: row[repeat]) if repeat else rows)


def _licence(record: PublishedComparison, published: Published) -> Iterator[Fault]:
    if not published.licences.get(record.source.licence_text, "").strip():
        message = f"there is no licence text `{record.source.licence_text}`"
        remedy = "copy the source's licence there; without a licence that permits copies, write a cited claim"
        yield Fault("source.licence_text", message, remedy)


def _changed(record: PublishedComparison, table: Table) -> Iterator[Fault]:
    if table.sha256 != record.rows.sha256:
        message = f"the rows have changed: their hash is {table.sha256}"
        yield Fault("rows.sha256", message, "restore the file; write the new hash only if the copy was wrong")


def _columns(record: PublishedComparison, table: Table) -> Iterator[Fault]:
    select, metric = record.select, record.metric
    named = {
        "rows.outcomes": record.rows.outcomes,
        "select.common": tuple(select.common),
        "select.subject": tuple(select.subject),
        "select.repeat": (select.repeat,) if select.repeat else (),
        "metric": tuple(filter(None, (metric.column, metric.p20, metric.p80))),
        "exceptions": tuple(name for each in record.exceptions for name in each.columns),
    }
    for field, names in named.items():
        for name in names:
            if name not in table.columns:
                remedy = f"use one of: {', '.join(table.columns)}"
                yield Fault(field, f"the rows have no column `{name}`", remedy)


def _selected(record: PublishedComparison, table: Table) -> Iterator[Fault]:
    found = {name: _arm(record, table, getattr(record.select, name)) for name in ("subject", "baseline")}
    repeat = record.select.repeat
    for name, rows in found.items():
        if repeat is None and len(rows) != 1:
            yield Fault(f"select.{name}", f"{len(rows)} rows match", "select exactly one row, or correct `raw`")
        numbers = [row[repeat] for row in rows] if repeat else []
        if repeat and (len(rows) < 2 or len({*numbers}) < len(rows)):  # noqa: PLR2004 - one row repeats nothing
            message = f"{len(rows)} rows match, with {len({*numbers})} different values of `{repeat}`"
            yield Fault(f"select.{name}", message, f"select at least two rows, one for each value of `{repeat}`")
    if repeat and record.raw == "reruns":
        subjects, baselines = ({row[repeat] for row in rows} for rows in found.values())
        if subjects != baselines:
            odd = min(subjects ^ baselines)
            remedy = "leave this rerun out of the copy, and say so in rows.transcribed"
            yield Fault("select.repeat", f"the rerun `{odd}` has one arm only", remedy)


def _amounts(record: PublishedComparison, table: Table) -> Iterator[Fault]:
    metric = record.metric
    for name in ("subject", "baseline"):
        for row in _arm(record, table, getattr(record.select, name)):
            cells = [row[column] for column in (metric.p20, metric.column, metric.p80) if column]
            values = [value(cell) for cell in cells]
            if not all(math.isfinite(each) and each > 0 for each in values):
                yield Fault("metric.column", f"`{', '.join(cells)}` of the {name} is no positive number", "correct it")
            elif values != sorted(values):
                yield Fault("metric.p20", f"the quantiles {', '.join(cells)} do not rise", "correct the columns")
            elif len(values) > 1 and len({*values}) == 1:
                message = f"the quantiles of the {name} are all {cells[0]}: it was measured about once"
                yield Fault("raw", message, "write `raw: single`, and remove p20 and p80")


def _ratios(record: PublishedComparison, table: Table) -> Iterator[Fault]:
    """Yield the arms whose values are ratios, such as a baseline that is 1 or 100 % in every row."""
    remedy = "copy what was measured of both arms; for a printed ratio alone, write a cited claim"
    if record.metric.unit == "×":
        yield Fault("metric.unit", "the unit is ×, so the rows are ratios", remedy)
    for name in ("subject", "baseline"):
        found = {value(row[record.metric.column]) for row in _arm(record, table, getattr(record.select, name))}
        if found == {100.0 if record.metric.unit == "%" else 1.0}:
            yield Fault("metric.column", f"the {name} is {found.pop():g} in every row, so the rows are ratios", remedy)


def _differences(record: PublishedComparison, table: Table) -> Iterator[Fault]:
    subjects, baselines = (_arm(record, table, each) for each in (record.select.subject, record.select.baseline))
    may_differ = {*record.select.subject, record.select.repeat, *record.rows.outcomes, *_measured(record)}
    may_differ |= {name for each in record.exceptions for name in each.columns}
    paired = record.raw == "reruns"
    for name in (each for each in table.columns if each not in may_differ):
        of_arms = ([row[name] for row in subjects], [row[name] for row in baselines])
        if of_arms[0] != of_arms[1] if paired else {*of_arms[0]} != {*of_arms[1]}:
            message = f"the arms also differ in `{name}`: {of_arms[0][0] or 'empty'}, {of_arms[1][0] or 'empty'}"
            remedy = "name the column in an exception, or in rows.outcomes if it is a result"
            yield Fault("select", message, remedy)


def _measured(record: PublishedComparison) -> set[str]:
    metric = record.metric
    return {column for column in (metric.column, metric.p20, metric.p80) if column}


def _roofline(record: PublishedComparison, table: Table) -> Iterator[Fault]:
    bound = record.plausible
    if bound is None:
        return
    kind, scale = UNITS[record.metric.unit]
    peak = bound.peak_flops * record.hardware.count
    for name in ("subject", "baseline"):
        for row in _arm(record, table, getattr(record.select, name)):
            amount = value(row[record.metric.column]) * scale
            rate = amount * bound.flops if kind == "rate" else bound.flops / amount
            if rate > peak:
                message = f"the {name} would compute {rate:.3g} FLOP/s, above the peak of {peak:.3g}"
                yield Fault("plausible", message, "correct the FLOPs or the peak; else the rows cannot be right")
                return

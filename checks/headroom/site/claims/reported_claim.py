"""Badges and sentences about reported claims: what published rows of somebody else say, and on what."""

from collections.abc import Iterator
from datetime import date

from headroom.maths.units import UNITS, human_readable
from headroom.records import ReportedClaim
from headroom.records.published_comparisons import PublishedComparison
from headroom.site.claims import phrasing
from headroom.verdicts.reported_results import Reported, Result

_MONTH_DAYS = 30.44
RAW = {
    "samples": "one sample of a run",
    "windows": "a window of one run; windows of one run are no independent runs",
    "quantiles": "a median with the 20th and 80th percentile",
    "reruns": "one run; the reruns of both arms are paired",
    "single": "one value for its arm, so the ratio has no interval",
}
STAKES = {
    "author": "the authors of the method",
    "vendor": "its vendor",
    "independent": "a third party without a stake in the result",
}


def word(found: Reported) -> str:
    """Return the badge's text."""
    return "reported: no valid rows" if found.status == "unmeasured" else phrasing.BADGES[found.status]


def sentence(claim: ReportedClaim, found: Reported) -> str:
    """Return the badge's tooltip: the figures, the hardware, the age of the software, and who measured them."""
    if not found.results:
        return f"Reported: {found.reason}."
    return f"Reported: {' '.join(_tooltip(claim, each) for each in found.results)}"


def _tooltip(claim: ReportedClaim, result: Result) -> str:
    record = result.record
    stated = "".join(f" {each.name}: {each.value}." for each in record.conditions[:3])
    figures = f"{claim.metric.title} {amounts(result)}, {ratio(result)}"
    return f"{figures}, on {hardware(record)} ({software_age(record)}), by {record.source.measured_by}.{stated}"


def hardware(record: PublishedComparison) -> str:
    """Return the devices: `NVIDIA A100 80GB`, `8 NVIDIA H100`."""
    found = record.hardware
    return f"{found.count} {found.product}" if found.count > 1 else found.product


def software_age(record: PublishedComparison) -> str:
    """Return the version of torch, the latest month of the measurement, and how long before its retrieval that was."""
    source = record.source
    torch = record.software.versions.get("torch")
    days = (date.fromisoformat(source.retrieved) - date.fromisoformat(source.measured_until)).days
    months = round(days / _MONTH_DAYS)
    read = _month(source.retrieved)
    before = f", {months} month{'s' * (months > 1)} before {read}" if months else ""
    stated = f"torch {torch}" if torch else "torch version not stated"
    return f"{stated}, {_month(source.measured_until)} at the latest{before}"


def _month(day: str) -> str:
    return phrasing.day(day).partition("\u00a0")[2].replace("\u00a0", " ")


def amount(result: Result, value: float) -> str:
    """Return a value in the unit of the published column, bytes in readable units."""
    unit = result.record.metric.unit
    if unit in ("B", "s"):
        return human_readable(value, unit)
    shown = "" if unit == "1" else f" {unit}"
    return f"{phrasing.number(value / UNITS[unit][1])}{shown}"


def amounts(result: Result) -> str:
    """Return the values of both arms: `3,063 tokens/s → 3,324 tokens/s`."""
    return f"{amount(result, result.baseline)} → {amount(result, result.subject)}"


def ratio(result: Result) -> str:
    """Return the ratio with its range: `ratio 1.11 (1.09 to 1.30 in 10 reruns)`."""
    if result.low is None or result.high is None:
        return f"ratio {phrasing.number(result.ratio)}"
    kind = f"in {len(result.ratios)} reruns" if result.record.raw == "reruns" else "between opposite percentiles"
    return f"ratio {phrasing.number(result.ratio)} ({spread(result)} {kind})"


def spread(result: Result) -> str:
    """Return the range of the ratio, or the ratio: `1.09 to 1.30`."""
    ends = [phrasing.number(each) for each in (result.low, result.high) if each is not None]
    return " to ".join(dict.fromkeys(ends)) or phrasing.number(result.ratio)


def in_short(claim: ReportedClaim, result: Result) -> str:
    """Return a table cell's figure: `1.09 to 1.30 times as fast`, `peak memory −63 %`."""
    kind = UNITS[result.record.metric.unit][0]
    ends = [each for each in (result.low, result.high) if each is not None] or [result.ratio]
    if kind in ("time", "rate"):
        return f"{' to '.join(dict.fromkeys(map(phrasing.number, ends)))} times as fast"
    moved = [phrasing.change((each if claim.metric.better == "higher" else 1 / each) - 1) for each in ends]
    return f"{claim.metric.title} {' to '.join(dict.fromkeys(moved))}"


def conditions(result: Result) -> str:
    """Return the hardware and the month of a result: `NVIDIA A100 80GB, February 2025`."""
    return f"{hardware(result.record)}, {_month(result.record.source.measured_until)}"


def summaries(claim: ReportedClaim, found: Reported) -> Iterator[tuple[str, str]]:
    """Yield the figure and the conditions of each result."""
    for result in found.results:
        yield in_short(claim, result), conditions(result)

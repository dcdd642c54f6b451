"""The published comparisons of a reported claim for claims.json."""

from headroom.maths.units import UNITS
from headroom.records.public_schema import PublishedResult
from headroom.site.claims.reported_claim import hardware
from headroom.verdicts.reported_results import Reported, Result


def exported(found: Reported) -> list[PublishedResult]:
    """Return each comparison whose rows count."""
    return [_result(each) for each in found.results]


def _result(result: Result) -> PublishedResult:
    record = result.record
    scale = UNITS[record.metric.unit][1]
    return PublishedResult(
        record=record.id,
        verdict=result.word,
        raw=record.raw,
        ratio=result.ratio,
        low=result.low,
        high=result.high,
        n=len(result.ratios),
        baseline=result.baseline / scale,
        subject=result.subject / scale,
        unit=record.metric.unit,
        source=record.source.url,
        licence=record.source.licence,
        measured_until=record.source.measured_until,
        stake=record.source.stake,
        hardware=hardware(record),
        versions=record.software.versions,
        conditions={each.name: each.value for each in record.conditions},
        unknown=list(record.unknown),
        exceptions=[each.what for each in record.exceptions],
    )

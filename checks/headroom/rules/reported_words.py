"""What the rule `words` knows of reported claims: their ratios, the numbers of their records, and their hardware."""

import re
from collections.abc import Iterator

from headroom.maths.units import UNITS
from headroom.records.reported_claims import ReportedClaim
from headroom.rules.context import Context
from headroom.verdicts.reported_results import Result

_SCALES = {"bytes": ("MB", "GB", "MiB", "GiB"), "time": ("ms", "s"), "rate": ("tokens/s",), "number": ("1",)}


def ratios(context: Context, claim: ReportedClaim) -> list[float]:
    """Return the ratios of all reruns and comparisons."""
    return [ratio for result in _results(context, claim) for ratio in result.ratios]


def holds_on(context: Context, claim: ReportedClaim, name: str) -> bool:
    """Return whether a comparison ran on the named product or kind of device."""
    found = (result.record.hardware for result in _results(context, claim))
    kinds = ("CPU" if each.architecture == "cpu" else "GPU" for each in found)
    products = (result.record.hardware.product for result in _results(context, claim))
    pattern = re.compile(rf"\b{re.escape(name)}", re.IGNORECASE)
    return name in kinds or any(map(pattern.search, products))


def record(context: Context, claim: ReportedClaim) -> str:
    """Return a claim's words, with its figures at every usual precision."""
    results = _results(context, claim)
    words = (f"{each.record.model_dump()}" for each in results)
    figures = (figure for each in results for figure in _figures(each))
    return " ".join((claim.statement, claim.subject, claim.baseline, *words, *figures))


def _results(context: Context, claim: ReportedClaim) -> tuple[Result, ...]:
    return context.board.reported[claim.id].results


def _figures(result: Result) -> Iterator[str]:
    yield from (str(result.agreeing), str(len(result.ratios)))
    scales = [UNITS[unit][1] for unit in _SCALES[UNITS[result.record.metric.unit][0]]]
    amounts = [amount / scale for amount in (result.subject, result.baseline) for scale in scales]
    for ratio in {*result.ratios, result.ratio, result.low or 1.0, result.high or 1.0}:
        amounts += [ratio, 1 / ratio, abs(ratio - 1) * 100, abs(1 / ratio - 1) * 100]
    yield from (f"{amount:,.{digits}f}" for amount in amounts for digits in range(4))

"""Judge reported claims: recompute each published comparison's ratio from its rows, after gates on these rows."""

import math
from dataclasses import dataclass
from statistics import median
from typing import Literal

from headroom.maths.units import UNITS
from headroom.records.published_comparisons import PublishedComparison
from headroom.records.published_rows import Published, Row
from headroom.records.reported_claims import ReportedClaim
from headroom.records.tree import Tree
from headroom.verdicts.published_gates import arms, faults, value

Word = Literal["agrees", "disagrees", "mixed"]


@dataclass(frozen=True, slots=True)
class Result:
    """What the rows of one published comparison say. Amounts are in the base unit of the metric."""

    record: PublishedComparison
    word: Word
    subject: float
    """The median over the arm's rows."""
    baseline: float
    ratio: float
    """Improvement of the subject over the baseline: above 1 the subject is better."""
    ratios: tuple[float, ...]
    """The ratio of each pair of reruns; else the ratio alone."""
    low: float | None
    high: float | None
    """The range of the ratio over reruns, or between quantiles; None where the rows show none."""
    rows: tuple[tuple[Row, ...], tuple[Row, ...]]
    """The rows of the subject and of the baseline."""
    agreeing: int
    """How many of the ratios are what the claim says."""


@dataclass(frozen=True, slots=True)
class Reported:
    """A reported claim's verdict over all its published comparisons."""

    status: Literal["agrees", "disagrees", "mixed", "unmeasured"]
    reason: str
    results: tuple[Result, ...]
    """The comparisons that pass the gates, by id."""

    def result(self, record: str | None = None) -> Result:
        """Return the result of the named record, or else of the first.

        Raises:
            LookupError: no record with valid rows has this name.
        """
        named = [each for each in self.results if record in (None, each.record.id)]
        if not named:
            known = ", ".join(each.record.id for each in self.results)
            raise LookupError(f"no published comparison `{record}` decides the claim; name one of: {known}")
        return named[0]


def judge_reported(tree: Tree) -> dict[str, Reported]:
    """Return the verdict on each reported claim, by id."""
    claims = (claim for claim in tree.claims.values() if isinstance(claim, ReportedClaim))
    return {claim.id: judge_claim(claim, tree.published) for claim in claims}


def judge_claim(claim: ReportedClaim, published: Published) -> Reported:
    """Judge a reported claim by all comparisons that pass the gates."""
    results = tuple(compared(claim, each, published) for each in published.of(claim.id) if not faults(each, published))
    words: set[Word] = {each.word for each in results}
    if not words:
        return Reported("unmeasured", "no published comparison passes the gates", ())
    status = words.pop() if len(words) == 1 else "mixed"
    return Reported(status, _reason(results), results)


def compared(claim: ReportedClaim, record: PublishedComparison, published: Published) -> Result:
    """Return the result of a comparison that passes the gates."""
    subjects, baselines = arms(record, published)
    subject, baseline = (median(_values(record, rows)) for rows in (subjects, baselines))
    ratio = _improvement(claim, subject, baseline)
    ratios: tuple[float, ...] = (ratio,)
    if record.raw == "reruns":
        pairs = zip(_values(record, subjects), _values(record, baselines), strict=True)
        ratios = tuple(_improvement(claim, s, b) for s, b in pairs)
        ratio = median(ratios)
    low, high = _range(claim, record, (subjects, baselines), ratios)
    judged = ratios if low is None or high is None else (*ratios, low, high)
    agreeing = _agreeing(claim, judged)
    word: Word = "agrees" if agreeing == len(judged) else "mixed" if agreeing else "disagrees"
    rows = (subjects, baselines)
    return Result(record, word, subject, baseline, ratio, ratios, low, high, rows, _agreeing(claim, ratios))


def _values(record: PublishedComparison, rows: tuple[Row, ...], column: str | None = None) -> list[float]:
    scale = UNITS[record.metric.unit][1]
    return [value(row[column or record.metric.column]) * scale for row in rows]


def _improvement(claim: ReportedClaim, subject: float, baseline: float) -> float:
    return subject / baseline if claim.metric.better == "higher" else baseline / subject


def _range(
    claim: ReportedClaim,
    record: PublishedComparison,
    rows: tuple[tuple[Row, ...], tuple[Row, ...]],
    ratios: tuple[float, ...],
) -> tuple[float | None, float | None]:
    """Return the lowest and highest ratio over reruns, or between opposite quantiles; None for other rows."""
    if record.raw == "reruns":
        return min(ratios), max(ratios)
    if record.raw != "quantiles":
        return None, None
    (s20, s80), (b20, b80) = (
        [_values(record, arm, column)[0] for column in (record.metric.p20, record.metric.p80)] for arm in rows
    )
    ends = _improvement(claim, s20, b80), _improvement(claim, s80, b20)
    return min(ends), max(ends)


def _agreeing(claim: ReportedClaim, ratios: tuple[float, ...]) -> int:
    low, high = _bounds(claim)
    return sum(low <= ratio <= high for ratio in ratios)


def _bounds(claim: ReportedClaim) -> tuple[float, float]:
    """Return the least and the greatest ratio that the claim's relation allows."""
    within = 1 + (claim.margin or 0.0)
    return {
        "better": (1 + claim.min_effect, math.inf),
        "worse": (0.0, 1 / (1 + claim.min_effect)),
        "not_worse": (1 / within, math.inf),
        "equal_within": (1 / within, within),
    }[claim.relation]


def _reason(results: tuple[Result, ...]) -> str:
    """Return how many published results agree: `10 of 10 reruns`, `1 of 2 published comparisons`."""
    if len(results) == 1 and len(results[0].ratios) > 1:
        return f"{results[0].agreeing} of {len(results[0].ratios)} reruns"
    agree = sum(each.word == "agrees" for each in results)
    return f"{agree} of {len(results)} published comparison{'s' * (len(results) > 1)}"

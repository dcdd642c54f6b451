"""The result of one claim for one method on one hardware class: figures, ratio, interval and verdict."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import median

from headroom.maths.units import human_readable
from headroom.records import CitedClaim, Claim, MeasuredClaim, ModelledClaim, ReportedClaim
from headroom.records.methods import Method
from headroom.site.claims import cited_claim, modelled_claim, phrasing, reported_claim
from headroom.site.site_data import SiteData
from headroom.verdicts import PointVerdict, Status

_GAINS = ("supported", "flips")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A claim seen from the method: before is without it, after is with it."""

    claim: Claim
    status: Status
    word: str
    """The badge's text."""
    before: float | None = None
    """In the unit of the metric; None if no asserted point has a result."""
    after: float | None = None
    ratio: float | None = None
    """Ratio of improvement: above 1 the method is better, in either direction of the metric."""
    low: float | None = None
    high: float | None = None
    """The ends of the ratio's interval."""
    figures: str = ""
    """Figures before and after: `80.0 ms → 64.2 ms`."""
    conditions: str = ""
    """The metric, the point and the baseline."""
    gains: bool = False
    """Whether the method is better in at least a part of the sweep."""
    here: bool = False
    """Whether it was measured on the class itself, not carried over from another."""

    @property
    def shown(self) -> tuple[object, ...]:
        """The values that readers see; outcomes with equal ones share a row."""
        return self.claim.id, self.word, self.conditions, self.before, self.after, self.ratio, self.low, self.high


def measured(site: SiteData, method: Method, claim: MeasuredClaim, hardware: str) -> Outcome:
    """Return the outcome of a claim on a class, with figures that carry over if it has none."""
    view = phrasing.view(site, claim, hardware)
    cost = claim.id in method.costs
    gains = view.status in _GAINS and claim.relation == "better" and not cost
    outcome = Outcome(claim, view.status, view.word, gains=gains, here=not view.carried)
    point = phrasing.shown_point(view)
    if point is None:
        return outcome
    before, after, ratio, low, high = map(_finite, _swapped(point) if cost else _values(point))
    against = claim.subject if cost else claim.baseline
    return replace(
        outcome,
        before=before,
        after=after,
        ratio=ratio,
        low=low,
        high=high,
        figures=_figures(before, after, claim.metric.kind.unit),
        conditions=f"{phrasing.conditions(view, point)}, against {against}",
    )


def _values(point: PointVerdict) -> tuple[float, float, float, float, float]:
    return median(point.baseline), median(point.subject), point.ratio, point.low, point.high


def _swapped(point: PointVerdict) -> tuple[float, float, float, float, float]:
    """Return the same values with the arms swapped, for a claim in which the method is the baseline."""
    before, after, *ratios = _values(point)
    ratio, high, low = (1 / each if each else math.inf for each in ratios)
    return after, before, ratio, low, high


def _figures(before: float | None, after: float | None, unit: str) -> str:
    if before is None or after is None:
        return ""
    return f"{human_readable(before, unit)} → {human_readable(after, unit)}".replace(" ", "\u00a0")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def reported(site: SiteData, claim: Claim) -> Outcome | None:
    """Return the outcome of a claim that is not measured here and so has no hardware class, or None."""
    if isinstance(claim, CitedClaim):
        on = cited_claim.hardware(claim)
        conditions = f"{f'on {on}, ' * bool(on)}{claim.source.year}"
        return Outcome(claim, "cited", cited_claim.word(claim), figures=claim.in_brief or "", conditions=conditions)
    if isinstance(claim, ModelledClaim):
        model = site.board.models[claim.id]
        found, name = modelled_claim.result(claim, model), claim.predicts.name
        return Outcome(claim, model.status, modelled_claim.word(model), figures=found, conditions=name)
    if isinstance(claim, ReportedClaim):
        return published(site, claim)
    return None


def published_hardware(site: SiteData, claim: ReportedClaim) -> dict[str, str]:
    """Return the full name of each GPU that a reported claim has rows from, by its short name."""
    found = (each.record.hardware for each in site.board.reported[claim.id].results)
    return {each.short: each.product for each in found}


def published(site: SiteData, claim: ReportedClaim, hardware: str | None = None) -> Outcome | None:
    """Return the outcome of a reported claim on one hardware, by its short name, or of its first comparison."""
    seen = site.board.reported[claim.id]
    fitting = [each for each in seen.results if hardware in (None, each.record.hardware.short)]
    if not fitting:
        return None
    first, words = fitting[0], {each.word for each in fitting}
    status: Status = fitting[0].word if len(words) == 1 else "mixed"
    return Outcome(
        claim,
        status,
        f"reported: {status}",
        before=first.baseline,
        after=first.subject,
        ratio=first.ratio,
        low=first.low,
        high=first.high,
        figures=reported_claim.in_short(claim, first),
        conditions=f"{claim.metric.title}, {reported_claim.conditions(first)}, against {claim.baseline}",
        gains=status == "agrees" and claim.relation == "better",
    )


def active(site: SiteData, names: Iterable[str]) -> Iterator[Claim]:
    """Yield the claims of these names that are not retired."""
    for name in names:
        claim = site.tree.claims.get(name)
        if claim and not claim.retired:
            yield claim

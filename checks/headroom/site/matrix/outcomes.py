"""What one claim says of one method on one hardware class: figures before and after, ratio, range and verdict."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import median

from headroom.maths.units import human_readable
from headroom.records import CitedClaim, Claim, MeasuredClaim, ModelledClaim
from headroom.records.methods import Method
from headroom.site.claims import cited_claim, modelled_claim, phrasing
from headroom.site.site_data import SiteData
from headroom.verdicts import PointVerdict, Status

_GAINS = ("supported", "flips")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A claim as one row of the matrix shows it, seen from the method: after is with it, before is without."""

    claim: Claim
    status: Status
    word: str
    """What the badge says."""
    before: float | None = None
    """In the unit of the claim's metric; None where nothing is known at any point that the claim asserts."""
    after: float | None = None
    ratio: float | None = None
    """Of improvement: above 1 the method is better, whichever direction the metric has."""
    low: float | None = None
    high: float | None = None
    """Both ends of the ratio's interval."""
    figures: str = ""
    """What a reader decides by: `80.0 ms → 64.2 ms`."""
    conditions: str = ""
    """Of what the figures are, where, and what the method is held against."""
    gains: bool = False
    """Whether the method is better in this, at least in a part of the sweep."""
    here: bool = False
    """Whether it was measured on the class itself, not counted on another."""

    @property
    def told(self) -> tuple[object, ...]:
        """All that a reader is told of it: outcomes that agree in this are the same to a reader."""
        return self.claim.id, self.word, self.conditions, self.before, self.after, self.ratio, self.low, self.high


def measured(site: SiteData, method: Method, claim: MeasuredClaim, hardware: str) -> Outcome:
    """What is measured of a claim on a class, or counted on another where it carries over."""
    view = phrasing.view(site, claim, hardware)
    cost = claim.id in method.costs
    # What a badge says of a part of a sweep is said of the claim's subject, and of a cost that is not the method.
    word = phrasing.BADGES["flips"] if cost and view.status == "flips" else view.word
    gains = view.status in _GAINS and claim.relation == "better" and not cost
    outcome = Outcome(claim, view.status, word, gains=gains, here=not view.carried)
    point = phrasing.shown_point(view)
    if point is None:
        return outcome
    before, after, ratio, low, high = map(_finite, _turned(point) if cost else _straight(point))
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


def _straight(point: PointVerdict) -> tuple[float, float, float, float, float]:
    return median(point.baseline), median(point.subject), point.ratio, point.low, point.high


def _turned(point: PointVerdict) -> tuple[float, float, float, float, float]:
    """The same with the arms swapped: the claim's subject is what the method is held against."""
    before, after, *ratios = _straight(point)
    ratio, high, low = (1 / each if each else math.inf for each in ratios)
    return after, before, ratio, low, high


def _figures(before: float | None, after: float | None, unit: str) -> str:
    if before is None or after is None:
        return ""
    return f"{human_readable(before, unit)} → {human_readable(after, unit)}".replace(" ", "\u00a0")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def told(site: SiteData, claim: Claim) -> Outcome | None:
    """What a source reports or a formula comes to, which is of no hardware class; nothing of a measured claim."""
    if isinstance(claim, CitedClaim):
        on = cited_claim.hardware(claim)
        conditions = f"{f'on {on}, ' * bool(on)}{claim.source.year}"
        return Outcome(claim, "cited", cited_claim.word(claim), figures=claim.in_brief or "", conditions=conditions)
    if isinstance(claim, ModelledClaim):
        model = site.board.models[claim.id]
        found, name = modelled_claim.result(claim, model), claim.predicts.name
        return Outcome(claim, model.status, modelled_claim.word(model), figures=found, conditions=name)
    return None


def active(site: SiteData, names: Iterable[str]) -> Iterator[Claim]:
    """The claims of these names that are still made."""
    for name in names:
        claim = site.tree.claims.get(name)
        if claim and not claim.retired:
            yield claim

"""The results of a claim in the index of all claims, and the statuses that the index filters by."""

from collections.abc import Iterable

from headroom.io.markdown_escape import text
from headroom.records import CitedClaim, Claim, MeasuredClaim, ModelledClaim, ReportedClaim
from headroom.site.claims import cited_claim, modelled_claim, phrasing, reported_claim, retirement_notice
from headroom.site.claims.phrasing import View
from headroom.site.markdown_blocks import badge
from headroom.site.site_data import SiteData

NOTHING = "–"
STATUSES = {
    "supported": "measured",
    "flips": "depends",
    "contradicted": "contradicted",
    "inconclusive": "inconclusive",
    "disputed": "disputed",
    "reported": "reported",
    "modelled": "computed",
    "cited": "cited",
    "unmeasured": "not measured yet",
    "retired": "retired",
}
"""What a reader can filter by, with its words, in the order of the form."""


def statuses(claim: Claim, site: SiteData) -> tuple[str, ...]:
    """Return the keys of ``STATUSES`` that a claim has, each once."""
    if claim.retired:
        return ("retired",)
    if isinstance(claim, CitedClaim):
        return ("cited",)
    if isinstance(claim, ModelledClaim):
        return tuple(dict.fromkeys(("modelled", site.board.models[claim.id].status)))
    if isinstance(claim, ReportedClaim):
        return ("reported",)
    return tuple(dict.fromkeys(view.status for view in _seen(claim, site))) or ("unmeasured",)


def result(claim: Claim, site: SiteData) -> str:
    """Return each result of a claim with its badge, figure and conditions."""
    if claim.retired:
        return f"{retirement_notice.BADGE} since {phrasing.day(claim.retired.since)}"
    if isinstance(claim, CitedClaim):
        where = f"on {cited_claim.hardware(claim)}, " if cited_claim.hardware(claim) else ""
        return line(badge("cited", cited_claim.word(claim)), claim.in_brief or "", f"{where}{claim.source.year}")
    if isinstance(claim, ModelledClaim):
        found = site.board.models[claim.id]
        shown = modelled_claim.result(claim, found)
        return line(badge(found.status, modelled_claim.word(found)), shown, claim.predicts.name)
    if isinstance(claim, ReportedClaim):
        return _reported(claim, site)
    return _lines(map(_measured, _seen(claim, site))) or NOTHING


def _seen(claim: MeasuredClaim, site: SiteData) -> list[View]:
    """Return the claim's view on each class with a measurement of its own."""
    views = (phrasing.view(site, claim, name) for name in site.classes_of(claim))
    return [view for view in views if view.status != "unmeasured" and not view.carried]


def _measured(view: View) -> str:
    point = phrasing.shown_point(view)
    ratio = f"{phrasing.number(point.ratio)}×" if point else ""
    kind = phrasing.conditions(view, point) if point else view.claim.metric.kind.title
    place = view.site.short_name(view.hardware)
    return line(badge(view.status, view.word), ratio, f"{kind}, {place}")


def _reported(claim: ReportedClaim, site: SiteData) -> str:
    found = site.board.reported[claim.id]
    mark = badge(found.status, reported_claim.word(found))
    rows = [line("", figure, where) for figure, where in reported_claim.summaries(claim, found)]
    return _lines([mark + " " + rows[0], *rows[1:]]) if rows else mark


def line(mark: str, figure: str, conditions: str) -> str:
    """Return a result: its badge, its figure and its conditions."""
    shown = f"<strong>{text(figure)}</strong>" if figure else ""
    return " ".join(filter(None, (mark, shown, f"<small>{text(conditions)}</small>")))


def _lines(parts: Iterable[str]) -> str:
    return "<br>".join(parts)

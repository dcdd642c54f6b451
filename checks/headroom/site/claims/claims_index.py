"""The index page of all claims, by topic."""

from collections.abc import Iterator
from itertools import groupby

from headroom.io.markdown_escape import text
from headroom.records import CitedClaim, Claim, ModelledClaim, ReportedClaim
from headroom.site.claims import cited_claim, modelled_claim, phrasing, reported_claim, retirement_notice
from headroom.site.markdown_blocks import badge
from headroom.site.site_data import INDEX, PageContext, SiteData, claim_page


def index(site: SiteData) -> str:
    """Return the page as Markdown: a table of claims per topic."""
    claims = sorted(site.tree.claims.values(), key=lambda claim: claim.id)
    intro = (
        "Every comparison on this site is one of these claims. A verdict is never stored: it is computed from the raw "
        "samples whenever the site is built, separately for each [hardware class](hardware.md). "
        "[What changed](changes.md) lately, and [all of it as data](../claims.json)."
    )
    head = [
        '---\ntitle: Claims\ndescription: "Every claim of this site and its verdict"\n---',
        "# Claims",
        intro,
    ]
    topics = groupby(claims, key=lambda claim: claim.id.partition(".")[0])
    return "\n\n".join([*head, *(part for topic, group in topics for part in _topic(topic, list(group), site))]) + "\n"


def _topic(topic: str, claims: list[Claim], site: SiteData) -> Iterator[str]:
    yield f"## {topic.capitalize()} {{ data-search-exclude }}"
    rows = [f"| {_named(claim)} | {_statuses(claim, site)} |" for claim in claims]
    yield "\n".join(["| claim | verdict |", "| --- | --- |", *rows])


def _named(claim: Claim) -> str:
    return f"[{text(claim.statement)}]({PageContext(INDEX).href(claim_page(claim.id))})"


def _statuses(claim: Claim, site: SiteData) -> str:
    """Return a badge per class with the date of its newest session."""
    if claim.retired:
        return f"{retirement_notice.BADGE} since {phrasing.day(claim.retired.since)}"
    if isinstance(claim, CitedClaim):
        return f"{badge('cited', cited_claim.word(claim))} {claim.source.year}"
    if isinstance(claim, ModelledClaim):
        found = site.board.models[claim.id]
        return f"{badge(found.status, modelled_claim.word(found))} {text(found.reason)}"
    if isinstance(claim, ReportedClaim):
        return _reported(claim, site)
    views = [phrasing.view(site, claim, name) for name in site.classes_of(claim)]
    return "<br>".join(_status(view) for view in views)


def _reported(claim: ReportedClaim, site: SiteData) -> str:
    found = site.board.reported[claim.id]
    places = "; ".join(dict.fromkeys(reported_claim.conditions(each) for each in found.results))
    return f"{badge(found.status, reported_claim.word(found))} {text(places)}"


def _status(view: phrasing.View) -> str:
    place = text(view.site.class_name(view.hardware))
    badge = f'<span class="badge badge-{view.status}">{text(view.word)}</span>'
    session = view.standing.session
    return f"{badge} {place}" + (f", {phrasing.day(session.head.date)}" if session else "")

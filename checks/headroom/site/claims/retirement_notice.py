"""Notices about retired claims and the claims that replace them."""

from collections.abc import Iterator

from headroom.io.markdown_escape import text
from headroom.records import Claim
from headroom.site.claims.phrasing import day
from headroom.site.site_data import PageContext, SiteData, claim_page

BADGE = '<span class="badge badge-retired">retired</span>'


def sentence(claim: Claim) -> str:
    """Return since when and why a claim is retired, or nothing."""
    return f"Retired since {day(claim.retired.since)}: {claim.retired.why}" if claim.retired else ""


def notice(claim: Claim, site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the notice of a retired claim's page, with a link to its replacement."""
    if claim.retired is None:
        return
    replacement = site.tree.claims.get(claim.retired.superseded_by or "")
    instead = f" Replaced by: {_link(replacement, page)}." if replacement else " No other claim replaces it."
    yield f"{BADGE} {text(sentence(claim))}{instead}"


def replaced(claim: Claim, site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the list of retired claims that this claim replaces."""
    rows = [f"- {_link(each, page)}. {text(sentence(each))}" for each in superseded(claim, site)]
    if rows:
        yield "## Replaces { data-search-exclude }"
        yield "\n".join(rows)


def superseded(claim: Claim, site: SiteData) -> list[Claim]:
    """Return the retired claims that name this claim as their replacement."""
    found = site.tree.claims.values()
    return [each for each in found if each.retired and each.retired.superseded_by == claim.id]


def _link(claim: Claim, page: PageContext) -> str:
    return f"[{text(claim.statement)}]({page.href(claim_page(claim.id))})"

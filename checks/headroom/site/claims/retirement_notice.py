"""What the site says of claims that are no longer made, and of those that took their place."""

from collections.abc import Iterator

from headroom.io.markdown_escape import text
from headroom.records import Claim
from headroom.site.claims.phrasing import day
from headroom.site.site_data import PageContext, SiteData, claim_page

BADGE = '<span class="badge badge-retired">retired</span>'


def sentence(claim: Claim) -> str:
    """Since when a claim is retired, and why; nothing where it is not."""
    return f"Retired since {day(claim.retired.since)}: {claim.retired.why}" if claim.retired else ""


def notice(claim: Claim, site: SiteData, page: PageContext) -> Iterator[str]:
    """What the page of a retired claim says first, and nothing on that of another."""
    if claim.retired is None:
        return
    heir = site.tree.claims.get(claim.retired.superseded_by or "")
    instead = f" In its place: {_link(heir, page)}." if heir else " No other claim took its place."
    yield f"{BADGE} {text(sentence(claim))}{instead}"


def older(claim: Claim, site: SiteData, page: PageContext) -> Iterator[str]:
    """The claims whose place this one took, with what was said of them."""
    rows = [f"- {_link(each, page)}. {text(sentence(each))}" for each in superseded(claim, site)]
    if rows:
        yield "## In the place of { data-search-exclude }"
        yield "\n".join(rows)


def superseded(claim: Claim, site: SiteData) -> list[Claim]:
    """The retired claims that name this one as what took their place."""
    found = site.tree.claims.values()
    return [each for each in found if each.retired and each.retired.superseded_by == claim.id]


def _link(claim: Claim, page: PageContext) -> str:
    return f"[{text(claim.statement)}]({page.href(claim_page(claim.id))})"

"""The way from a claim's page to whoever can correct it: an issue, filled in as far as the page knows."""

from collections.abc import Iterator
from urllib.parse import quote, urlencode

from headroom.io.markdown_escape import text
from headroom.records import Claim
from headroom.site.site_data import SiteData, claim_page
from headroom.verdicts import PointVerdict, Standing

FORM = "claim-is-wrong.yml"
"""The issue form under .github/ISSUE_TEMPLATE/; what is filled in are fields of it, by their ids."""


def links(claim: Claim, site: SiteData) -> Iterator[str]:
    """A sentence with a link for each hardware class that was measured, or one for the claim; none without a host."""
    if not site.repository:
        return
    measured = {
        name: standing
        for name in site.classes_of(claim)
        if (standing := site.board.of(claim, name)).session is not None
    }
    if not measured:
        yield f"Is it not so? [Say what is wrong]({_address(claim, site, {})})."
    for name, standing in measured.items():
        address = _address(claim, site, {"class": name, **_said(standing)})
        yield f"Is it not so for you on {text(site.class_name(name))}? [I measured otherwise]({address})."


def _said(standing: Standing) -> dict[str, str]:
    """What the page says of a claim on a class, and with which versions it was measured."""
    if standing.session is None or standing.verdict is None:
        return {}
    head = standing.session.head
    points = standing.verdict.points
    figures = map(_at, points)
    versions = (f"{name} {version}" for name, version in head.environment.versions.items())
    return {
        "said": f"{standing.status} ({standing.reason}) on {head.date}: {'; '.join(figures)}",
        "versions": ", ".join(versions),
    }


def _at(point: PointVerdict) -> str:
    where = ", ".join(f"{name}={value}" for name, value in point.point.items())
    return f"{f'at {where} ' * bool(where)}{point.verdict} {point.ratio:.4g} [{point.low:.4g}, {point.high:.4g}]"


def _address(claim: Claim, site: SiteData, known: dict[str, str]) -> str:
    """The address of a new issue. What is encoded holds neither a bracket nor a quotation mark nor a space."""
    page = claim_page(claim.id).removesuffix(".md") + ".html"
    fields = {"template": FORM, "title": f"{claim.id} is not so", "claim": claim.id, "page": page, **known}
    return f"{site.repository.rstrip('/')}/issues/new?{urlencode(fields, quote_via=quote, safe='')}"

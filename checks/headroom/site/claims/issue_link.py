"""The links on a claim's page that open an issue with known fields filled in."""

from collections.abc import Iterator
from urllib.parse import quote, urlencode

from headroom.io.markdown_escape import text
from headroom.records import Claim
from headroom.site.site_data import SiteData, claim_page
from headroom.verdicts import PointVerdict, Standing

FORM = "claim-is-wrong.yml"
"""The issue form below .github/ISSUE_TEMPLATE/; its field ids are the query's keys."""


def links(claim: Claim, site: SiteData) -> Iterator[str]:
    """Yield a link per measured class, or one for the whole claim; none without a repository."""
    if not site.repository:
        return
    measured = {
        name: standing
        for name in site.classes_of(claim)
        if (standing := site.board.of(claim, name)).session is not None
    }
    if not measured:
        yield f"Is this claim wrong? [Say what is wrong]({_address(claim, site, {})})."
    for name, standing in measured.items():
        address = _address(claim, site, {"class": name, **_fields(standing)})
        yield f"Did you find something else on {text(site.class_name(name))}? [I measured otherwise]({address})."


def _fields(standing: Standing) -> dict[str, str]:
    """Return the verdict and the versions as fields of the form."""
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
    """Return the address of a new issue, encoded so that Markdown can link it."""
    page = claim_page(claim.id).removesuffix(".md") + ".html"
    fields = {"template": FORM, "title": f"{claim.id} is not so", "claim": claim.id, "page": page, **known}
    return f"{site.repository.rstrip('/')}/issues/new?{urlencode(fields, quote_via=quote, safe='')}"

"""SVG badges with a claim's current verdict for READMEs, overall and per hardware class.

A badge has its own colours for light and dark pages, and loads nothing.
"""

from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape

from headroom.io.markdown_escape import one_line
from headroom.records import CitedClaim, Claim, MeasuredClaim, ModelledClaim, ReportedClaim
from headroom.site.claims import (
    cited_claim,
    modelled_claim,
    phrasing,
    reported_claim,
    retirement_notice,
    verdict_sentence,
)
from headroom.site.site_data import SiteData, claim_file, claim_page, html_page
from headroom.verdicts import Status

# White text on each of these has a contrast of at least 4.5.
_COLOURS: dict[Status | Literal["retired"], str] = {
    "supported": "#0b6b5e",
    "contradicted": "#a12622",
    "inconclusive": "#8a5a00",
    "disputed": "#a12622",
    "flips": "#5b3f9e",
    "unmeasured": "#5c6670",
    "cited": "#44546a",
    "modelled": "#44546a",
    "agrees": "#2b5c8a",
    "disagrees": "#a12622",
    "mixed": "#5b3f9e",
    "retired": "#5c6670",
}
_ORDER: tuple[Status, ...] = ("contradicted", "disputed", "flips", "inconclusive", "supported")
PLACEHOLDER = "https://ADDRESS-OF-THIS-SITE/"
"""The site's address in a badge's Markdown if it is not set."""
_LABEL = "headroom"
_LONGEST, _TITLE = 80, 300
_WIDE, _NARROW = "MWmw@%→×", "iIl.,:;'|! jtfr"


@dataclass(frozen=True, slots=True)
class Badge:
    """The content of one badge."""

    path: str
    """Its path on the site."""
    hardware: str
    """Its class; empty for the badge of the whole claim."""
    status: Status | Literal["retired"]
    message: str
    title: str
    """The full sentence, for screen readers and as a tooltip."""


def files(site: SiteData) -> dict[str, str]:
    """Return every badge's SVG by path."""
    return {badge.path: svg(badge) for claim in site.tree.claims.values() for badge in of_claim(claim, site)}


def of_claim(claim: Claim, site: SiteData) -> list[Badge]:
    """Return the badge of a claim, and one for each class with a verdict."""
    path = claim_file(claim.id, ".svg")
    if claim.retired:
        return [Badge(path, "", "retired", "retired", retirement_notice.sentence(claim))]
    if isinstance(claim, CitedClaim):
        return [Badge(path, "", "cited", cited_claim.word(claim), cited_claim.sentence(claim))]
    if isinstance(claim, ModelledClaim):
        found = site.board.models[claim.id]
        return [Badge(path, "", found.status, modelled_claim.word(found), modelled_claim.sentence(claim, found))]
    if isinstance(claim, ReportedClaim):
        seen = site.board.reported[claim.id]
        return [Badge(path, "", seen.status, reported_claim.word(seen), reported_claim.sentence(claim, seen))]
    assert isinstance(claim, MeasuredClaim)
    own = [_of_class(claim, name, site) for name, found in site.board.standings[claim.id].items() if found.verdict]
    return [_whole(path, own), *own]


def _of_class(claim: MeasuredClaim, name: str, site: SiteData) -> Badge:
    view = phrasing.view(site, claim, name)
    points = [point for point in view.standing.verdict.points if point.asserted] if view.standing.verdict else []
    amount = phrasing.phrase(claim, [point.ratio for point in points]) if view.status == "supported" else ""
    message = f"{amount}, {phrasing.BADGES['supported']}" if amount else view.word
    title = verdict_sentence.verdict_sentence(view)
    return Badge(
        claim_file(claim.id, f".{name}.svg"), name, view.status, f"{message} on {site.short_name(name)}", title
    )


def _whole(path: str, own: list[Badge]) -> Badge:
    """Return the badge of the whole claim: the worst of its classes."""
    if not own:
        return Badge(path, "", "unmeasured", phrasing.BADGES["unmeasured"], "Not measured yet.")
    worst = min(own, key=lambda badge: _ORDER.index(badge.status) if badge.status in _ORDER else len(_ORDER))
    return Badge(path, "", worst.status, worst.message, " ".join(badge.title for badge in own))


def svg(badge: Badge) -> str:
    """Return the drawing: two boxes with text."""
    message = _cut(badge.message, _LONGEST)
    left, right = _width(_LABEL) + 12, _width(message) + 12
    title = _cut(f"Headroom: {badge.message}. {badge.title}", _TITLE)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img">'
        f"<title>{escape(title)}</title>"
        f'<rect width="{left + right}" height="20" rx="3" fill="#24313b"/>'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z" fill="{_COLOURS[badge.status]}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="6" y="14" textLength="{left - 12}">{_LABEL}</text>'
        f'<text x="{left + 6}" y="14" textLength="{right - 12}">{escape(message)}</text></g></svg>\n'
    )


def _cut(value: str, longest: int) -> str:
    line = one_line(value).replace("\u00a0", " ")
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def _width(value: str) -> int:
    """Estimate a text's width in pixels in Verdana at 11 pixels; textLength fits other fonts to it."""
    return round(sum(9.5 if char in _WIDE else 4.2 if char in _NARROW else 6.9 for char in value))


def markdown(claim: Claim, badge: Badge, address: str) -> str:
    """Return the Markdown that shows a badge in a README; it contains no text of a record."""
    top = address or PLACEHOLDER
    return f"[![Headroom: {claim.id}]({top}{badge.path})]({top}{html_page(claim_page(claim.id))})"

"""Pages and sentences about cited claims: who reports a result, where, and on what hardware."""

from collections.abc import Iterator

from headroom.io.markdown_escape import text
from headroom.records import CitedClaim
from headroom.site.claims import phrasing
from headroom.site.markdown_blocks import badge, bullets, heading, not_claimed, table
from headroom.site.site_data import PageContext

_TYPES = {
    "paper": "a paper",
    "vendor": "a vendor's publication",
    "documentation": "project documentation",
    "web": "a web page",
}
_REPORTERS = {
    "author": "its authors themselves",
    "vendor": "its vendor",
    "independent": "a third party",
}
_SHORT = {"author": "authors", "vendor": "vendor", "independent": "independent"}
_INDEPENDENCE = {
    "author": "Measured by the authors of the method. They know how to use it best, and chose what to compare it with.",
    "vendor": "Measured or stated by the vendor, who makes or publishes the product in question.",
    "independent": "Measured by a third party without a stake in the result.",
}
_WARNING = (
    '!!! warning "A web page"\n\n    Nobody reviewed it before it was published, and it may change or go. '
    "The quotation is from the day on which it was read."
)


def word(claim: CitedClaim) -> str:
    """Return the badge's text: who reports the claim, and whether it is on a web page."""
    page = ", web page" if claim.source.type == "web" else ""
    return f"{phrasing.BADGES['cited']}: {_SHORT[claim.independence]}{page}"


def hardware(claim: CitedClaim) -> str:
    """Return the hardware that the source names, or nothing."""
    return "" if claim.hardware_as_stated.startswith(("none", "not stated")) else claim.hardware_as_stated


def sentence(claim: CitedClaim) -> str:
    """Return one sentence with the source, its hardware, and that it was not measured here."""
    source = claim.source
    place = f" on {hardware(claim)}" if hardware(claim) else " on hardware that is not stated"
    kind = f"in {_TYPES[source.type]} of {source.year} ({source.title}, {source.locator}),"
    return f"Reported by {_REPORTERS[claim.independence]}, {source.authors}, {kind}{place}; not measured here."


def reported(claim: CitedClaim) -> str:
    """Return the statement for programs, introduced by its authors."""
    source = claim.source
    return f"Reported by {source.authors} ({source.year}), not measured here: {claim.statement}"


def render(claim: CitedClaim, page: PageContext) -> Iterator[str]:
    """Yield the sections of a cited claim's page below the title."""
    source = claim.source
    yield f"{badge('cited', word(claim))} {text(sentence(claim))}"
    yield f"> “{text(claim.quote)}”"
    if source.type == "web":
        yield _WARNING
    yield heading("Source")
    yield bullets(
        [
            f'<a href="{text(source.url)}">{text(source.title)}</a>, {text(source.authors)}, {source.year}',
            f"Kind of source: {_TYPES[source.type]}",
            f"Where in it: {text(source.locator)}",
            f"Read on {phrasing.day(source.retrieved)}",
            f"Hardware as stated: {text(claim.hardware_as_stated)}",
            f"Independence: {_INDEPENDENCE[claim.independence]}",
        ]
    )
    yield heading("Figures as printed")
    yield table(("figure", "as printed"), [(text(f.name), text(f.as_printed)) for f in claim.figures])
    yield from not_claimed(claim, page)

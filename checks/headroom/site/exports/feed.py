"""Changes of verdicts as an Atom feed and as a page.

Ids and dates come from evidence and records, so two builds give the same bytes and no entry appears twice.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Final
from uuid import UUID, uuid5
from xml.etree import ElementTree as ET

from headroom.io.markdown_escape import one_line, text
from headroom.site.claims import phrasing
from headroom.site.claims.verdict_history import Event, events
from headroom.site.markdown_blocks import badge, bullets, heading, table
from headroom.site.site_data import PageContext, SiteData, claim_page, html_page

PAGE: Final = "claims/changes.md"
FEED: Final = "feed.xml"
_ATOM: Final = "http://www.w3.org/2005/Atom"
_NAMES: Final = UUID("6f0b4f4e-3a0c-5f5b-9a53-0d2b8f0d5c11")
"""The namespace of the entries' ids; it does not depend on the site's address."""
_ENTRIES, _ROWS = 100, 150
"""The number of newest entries in the feed, and of rows in each section of the page."""
_NEVER = "1970-01-01"


def changes(site: SiteData) -> list[Event]:
    """Return every change of a verdict, the newest first, without mere confirmations."""
    found = [event for claim in site.tree.claims.values() for event in events(claim, site) if event.changed]
    return sorted(found, key=lambda event: event.order, reverse=True)


def atom(site: SiteData, found: list[Event], title: str) -> str:
    """Return the feed (RFC 4287) of the newest changes."""
    feed = ET.Element("feed", {"xmlns": _ATOM, "xml:lang": "en"})
    if site.address:
        feed.set("xml:base", site.address)
        ET.SubElement(feed, "link", {"rel": "self", "type": "application/atom+xml", "href": site.address + FEED})
    _add(feed, "id", uuid5(_NAMES, "feed").urn)
    _add(feed, "title", f"{title}: verdicts that changed")
    _add(feed, "updated", _moment(found[0].day, found[0].time) if found else _moment(_NEVER, ""))
    ET.SubElement(feed, "link", {"rel": "alternate", "type": "text/html", "href": html_page(PAGE)})
    _add(ET.SubElement(feed, "author"), "name", "The Headroom contributors")
    for event in found[:_ENTRIES]:
        _entry(ET.SubElement(feed, "entry"), event, site)
    ET.indent(feed, " ")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(feed, encoding="unicode")}\n'


def _entry(entry: ET.Element, event: Event, site: SiteData) -> None:
    source = event.step.session.path if event.step else "retired"
    _add(entry, "id", uuid5(_NAMES, f"{event.claim.id} {event.hardware} {source}").urn)
    _add(entry, "title", f"{_summary(event)}: {event.claim.statement}")
    _add(entry, "updated", _moment(event.day, event.time))
    ET.SubElement(
        entry, "link", {"rel": "alternate", "type": "text/html", "href": html_page(claim_page(event.claim.id))}
    )
    ET.SubElement(entry, "category", {"term": event.after})
    place = f" on {site.class_name(event.hardware)}" if event.hardware else ""
    _add(entry, "summary", f"Claim {event.claim.id}{place}: {' → '.join(event.named)}; {event.why}.")


def _summary(event: Event) -> str:
    before, after = event.named
    return f"{after} (first evidence)" if event.first else f"{before} → {after}"


def _moment(day: str, time: str) -> str:
    return f"{day}T{time or '00:00:00'}Z"


def _add(parent: ET.Element, name: str, value: str) -> None:
    ET.SubElement(parent, name).text = one_line(value)


def page(site: SiteData, found: list[Event]) -> str:
    """Return the page: changed verdicts first, then first measurements."""
    context = PageContext(PAGE)
    newest = f"The newest change is from {phrasing.day(found[0].day)}. " if found else ""
    feed = f"[feed]({context.href(FEED)})"
    parts = [
        '---\ntitle: What changed\ndescription: "Which verdicts changed, when and why, the newest first"\n---',
        "# What changed",
        f"{newest}Dates are those of the evidence. A claim's page has its whole history. Subscribe to the {feed}.",
        heading("Verdicts that changed"),
        *_changed([event for event in found if not event.first], site, context),
        heading("Measured for the first time"),
        *_first_measured([event for event in found if event.first], site, context),
    ]
    return "\n\n".join(parts) + "\n"


def _changed(found: list[Event], site: SiteData, context: PageContext) -> Iterator[str]:
    if not found:
        yield "No verdict has changed yet."
        return
    yield table(("day", "claim", "hardware", "verdict", "why"), (_row(event, site, context) for event in found[:_ROWS]))
    yield from _rest(found)


def _row(event: Event, site: SiteData, context: PageContext) -> list[str]:
    place = text(site.class_name(event.hardware)) if event.hardware else "all"
    return [phrasing.day(event.day), _linked(event, context), place, " → ".join(event.named), text(event.why)]


def _first_measured(found: list[Event], site: SiteData, context: PageContext) -> Iterator[str]:
    """Yield a list for each day and hardware class."""
    if not found:
        yield "Nothing has been measured yet."
    for (day, hardware), group in groupby(found[:_ROWS], key=lambda event: (event.day, event.hardware)):
        yield f"{phrasing.day(day)}, {text(site.class_name(hardware))}:"
        yield bullets(f"{badge(event.after, event.named[1])} {_linked(event, context)}" for event in group)
    yield from _rest(found)


def _rest(found: list[Event]) -> Iterator[str]:
    if len(found) > _ROWS:
        yield f"{len(found) - _ROWS} older changes are on the pages of their claims."


def _linked(event: Event, context: PageContext) -> str:
    return f"[{text(event.claim.statement)}]({context.href(claim_page(event.claim.id))})"

"""Replace a picture link that stands alone on a line: `![Caption.](picture:NAME)` becomes a figure with its drawing."""

import re
from collections.abc import Callable
from typing import Final
from xml.etree.ElementTree import Element, SubElement

from headroom.pictures import canvas, decision, gallery
from headroom.records.pictures import Decision
from headroom.site.site_data import PageContext, SiteData

SCHEME: Final = "picture:"
_LINE = re.compile(r"^!\[(?P<caption>[^\]]+)\]\(picture:(?P<name>[a-z0-9-]+)\)$")


def insert(root: Element, site: SiteData, page: PageContext, stash: Callable[[str], str]) -> None:
    """Replace each paragraph that holds only a picture link by a figure.

    Args:
        root: the page's elements.
        site: the data that pictures draw from.
        page: the page, for links.
        stash: keeps HTML aside and returns the text that stands for it.

    Raises:
        LookupError, ValueError: a picture cannot be drawn.
    """
    for paragraph in root.iter("p"):
        image = paragraph.find("img")
        if image is not None and image.get("src", "").startswith(SCHEME):
            name, caption = image.get("src", "").removeprefix(SCHEME), image.get("alt", "")
            _become_figure(paragraph, gallery.picture(name, site.tree, site.board), caption, page, stash)


def _become_figure(
    element: Element,
    picture: canvas.Picture | Decision,
    caption: str,
    page: PageContext,
    stash: Callable[[str], str],
) -> None:
    element.clear()
    element.tag = "figure"
    element.set("class", "frame")
    if isinstance(picture, Decision):
        element.append(decision.element(picture, page.href))
    else:
        SubElement(element, "div").text = stash(canvas.svg(picture))
    SubElement(element, "figcaption").text = caption


def with_words(lines: list[str], site: SiteData) -> list[str]:
    """Replace each picture link by its caption and its text alternative, for the plain Markdown of a page."""
    return [_words(match, site) if (match := _LINE.match(line)) else line for line in lines]


def _words(match: re.Match[str], site: SiteData) -> str:
    try:
        found = gallery.picture(match["name"], site.tree, site.board)
    except (LookupError, ValueError):  # the site's build reports it
        return match["caption"]
    text = decision.description(found) if isinstance(found, Decision) else found.description
    return f"**Picture: {found.title}.** {match['caption']} {text}"

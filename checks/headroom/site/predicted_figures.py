"""Predicted figures on the site: each explains its components and links to the error of estimates."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement

from headroom.memory.known_errors import in_words
from headroom.pages.estimate_targets import TABLE, parse_table
from headroom.pages.predictions import LEAST_TIME, USUAL_CARDS, Prediction, known_error_of
from headroom.site.site_data import PageContext, SiteData

SCHEME: Final = "predicted:"
"""The scheme of a link that carries the smallest card and the components of a predicted figure."""
TINTED: Final = "card"
"""The title of a link whose table cell is tinted by the smallest card that the figure fits."""
_ABOUT: Final = ("tools/estimate-errors.md", "contribute/memory.md")
"""The pages that explain predicted figures: the first that exists is linked."""
_LINE = re.compile(rf"^\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<href>{TABLE}[^()\s]+)\)$")
_TINTS: Final = (24, 48, 141)
"""The largest card, in GB, of each tint."""
_NO_CARD: Final = "several GPUs"
_TIME: Final = "least time"
_BOUND: Final = "A lower bound: bytes read over the printed bandwidth, or FLOPs over the printed dense peak."
_ABOUT_TIME: Final = ("inference/single-gpu/prefill-and-decode.md", *_ABOUT)
_CARDS: Final = f"{', '.join(map(str, USUAL_CARDS[:-1]))} or {USUAL_CARDS[-1]}"


def card_of(found: Prediction) -> str:
    """Return the smallest card of a predicted figure in words; a time has none."""
    return _TIME if found.is_time else found.card or _NO_CARD


def address(found: Prediction) -> str:
    """Return the address of a predicted figure, which `fill` reads."""
    return f"{SCHEME}{card_of(found)};{found.explained}"


def fill(parent: Element, link: Element, site: SiteData, page: PageContext) -> None:
    """Turn a link with the address of a prediction into the figure; tint its table cell if its title says so."""
    card, _, explained = link.get("href", "").removeprefix(SCHEME).partition(";")
    tinted = link.get("title") == TINTED
    link.attrib.clear()
    about = _about(site, _ABOUT_TIME if card == _TIME else _ABOUT)
    link.tag = "a" if about else "abbr"
    link.attrib.update({"class": "predicted", "title": explained})
    link.attrib.update({"href": page.href(about)} if about else {"tabindex": "0"})
    if tinted and parent.tag == "td":
        parent.set("class", f"fits fits-{_tint(card)}")
        link.tail = " "
        SubElement(parent, "small", {"class": "card"}).text = card


def _tint(card: str) -> int:
    """Return the number of a card's tint, from 1 for the smallest cards."""
    size = card.partition(" ")[0]
    return 1 + bisect_left(_TINTS, int(size)) if size.isdecimal() else len(_TINTS) + 1


def with_tables(lines: Sequence[str], site: SiteData, page: PageContext) -> list[str]:
    """Replace each line ``[TITLES](estimate-table:…)`` with the table of its estimates.

    Raises:
        ValueError: the address has another form.
    """
    found: list[str] = []
    for line in lines:
        match = _LINE.match(line)
        found += _table(match["href"], match["text"], site, page) if match else [line]
    return found


def _table(href: str, text: str, site: SiteData, page: PageContext) -> Iterator[str]:
    table = parse_table(href, text)
    yield f"| {' | '.join(_titled(each, site) for each in table.titles)} |"
    yield f"|---{'|--:' * (len(table.titles) - 1)}|"
    peak, time = "#" not in href, href.endswith(f"#{LEAST_TIME}")
    title = f' "{TINTED}"' if peak else ""
    for name, cells in table.rows:
        links = [f"[]({cell}{title})" for cell in cells]
        yield f"| {_titled(name, site)} | {' | '.join(links)} |"
    legend = f"Predicted peak of allocated memory, and the smallest card that it fits: {_CARDS} GB. " if peak else ""
    known = "" if time else _known([cell for _, cells in table.rows for cell in cells], site, page)
    yield from ("", _BOUND if time else legend + known)


def _known(cells: Iterable[str], site: SiteData, page: PageContext) -> str:
    """Return the known error of each kind of job in a table, with a link to the page about errors."""
    found = dict.fromkeys(known_error_of(each, site.tree.root) for each in cells)
    kinds = {each: each.kind if each else "of the others" for each in found} if len(found) > 1 else {}
    words = "; ".join(f"{kinds.get(each, '')} {in_words(each)}".lstrip() for each in found)
    about = _about(site)
    error = f"[Known error of the peak]({page.href(about)})" if about else "Known error of the peak"
    return f"{error}: {words}."


def _about(site: SiteData, pages: Sequence[str] = _ABOUT) -> str | None:
    """Return the page that explains predicted figures and their error, if the site has one."""
    return next((each for each in pages if any(known.path == f"docs/{each}" for known in site.pages)), None)


def _titled(name: str, site: SiteData) -> str:
    """Return the title of a model's row; any other row or column has its own name."""
    shape = site.tree.shapes.get(name)
    return shape.title if shape else name

"""Calculated figures on the site: each shows its formula with the numbers, on hover and on keyboard focus."""

import logging
import re
from collections.abc import Callable
from typing import Final
from xml.etree.ElementTree import Element

from headroom.files import UnreadableError
from headroom.prose.calculated_text import explained
from headroom.prose.calculations import SCHEME as CALC
from headroom.prose.calculations import Calculations, source_of
from headroom.prose.markup import comments, without_fences
from headroom.prose.pages import links_of
from headroom.site.context import PageContext, SiteData

SCHEME: Final = "calculated:"
"""The scheme of a link that carries the formula with its numbers."""
_LOG = logging.getLogger("mkdocs.headroom")
_LET = re.compile(r"<!--\s*let:")


def with_formulas(lines: list[str], site: Callable[[], SiteData], page: PageContext) -> list[str]:
    """Return the lines of a page without lets, each `calc:` link with the formula and its numbers for an address.

    The address is resolved here since only the source has the places in which a let holds.
    """
    if not any(CALC in line or "let:" in line for line in lines):
        return lines  # no data need be read
    text = "\n".join(lines)
    changes = [_line(text, *span) for span in comments(without_fences(text)) if _LET.match(text, span[0])]
    if any(CALC in line for line in lines):
        changes += _addresses(text, site(), page)
    return _changed(text, changes).split("\n")


def fill(link: Element) -> None:
    """Turn a link into the figure, which the theme explains on hover and on focus.

    Raises:
        ValueError: its formula is in a form that is not read, or at fault.
    """
    href = link.get("href", "")
    link.attrib.clear()
    if not href.startswith(SCHEME):
        link.tag = "span"
        raise ValueError("the formula cannot be calculated; `headroom check` says why")
    link.tag = "abbr"
    link.attrib.update({"class": "calculated", "tabindex": "0", "title": href.removeprefix(SCHEME)})


def _line(text: str, start: int, end: int) -> tuple[int, int, str]:
    """What goes with a let: its whole line where nothing else stands there, so that it divides no paragraph."""
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end) + 1 or len(text)
    alone = not text[first:start].strip() and not text[end:last].strip()
    return (first, last, "") if alone else (start, end, "")


def _addresses(text: str, site: SiteData, page: PageContext) -> list[tuple[int, int, str]]:
    """Where the address of each `calc:` link stands, and what is to stand there."""
    found = Calculations(text, links_of(text), source_of(site.tree, site.board))
    changes = []
    for fault in found.faults:
        _LOG.warning("Doc file '%s': %s", page.path, fault.message)
    for each in found.found:
        start = each.link.end + len("](")
        try:
            changes.append((start, start + len(each.link.href), f"<{SCHEME}{explained(each)}>"))
        except UnreadableError as error:
            _LOG.warning("Doc file '%s': %s", page.path, error.message)
    return changes


def _changed(text: str, changes: list[tuple[int, int, str]]) -> str:
    parts, done = [], 0
    for start, end, new in sorted(changes):
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])

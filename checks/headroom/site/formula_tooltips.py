"""Calculated and predicted figures on the site: each shows its formula on hover and on keyboard focus."""

import logging
import re
from collections.abc import Callable
from typing import Final
from xml.etree.ElementTree import Element

from headroom.io.safe_read import UnreadableError
from headroom.pages.calculated_text import explained, rewrite
from headroom.pages.calculations import SCHEME as CALC
from headroom.pages.calculations import Calculation, Calculations
from headroom.pages.estimate_targets import SCHEME as ESTIMATE
from headroom.pages.figure_sources import source_of
from headroom.pages.markdown_syntax import comments, without_fences
from headroom.pages.predictions import Predictions
from headroom.pages.source import links_of
from headroom.site import predicted_figures
from headroom.site.site_data import PageContext, SiteData

SCHEME: Final = "calculated:"
"""The scheme of a link that carries the formula with its numbers."""
_LOG = logging.getLogger("mkdocs.headroom")
_LET = re.compile(r"<!--\s*let:")


def with_formulas(lines: list[str], site: Callable[[], SiteData], page: PageContext) -> list[str]:
    """Return the lines of a page without lets, each figure's link with its formula and its numbers for an address.

    The address is resolved here since only the source has the places in which a let holds. Empty links are filled.
    """
    if not any(CALC in line or ESTIMATE in line or "let:" in line for line in lines):
        return lines  # no data need be read
    text = "\n".join(lines)
    changes = [_line(text, *span) for span in comments(without_fences(text)) if _LET.match(text, span[0])]
    if any(CALC in line or ESTIMATE in line for line in lines):
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
    """Return the spans of figures' addresses and of empty texts, each with its replacement."""
    predictions = Predictions(site.tree.root)
    found = Calculations(text, links_of(text), source_of(site.tree, site.board, predictions))
    changes = []
    for fault in found.faults:
        _LOG.warning("Doc file '%s': %s", page.path, fault.message)
    for each in found.found:
        start = each.link.end + len("](")
        try:
            changes.append((start, start + len(each.link.href), f"<{_address(each, predictions)}>"))
            if not each.link.text:
                changes.append((each.link.start, each.link.end, rewrite(each).right))
        except UnreadableError as error:
            _LOG.warning("Doc file '%s': %s", page.path, error.message)
    return changes


def _address(figure: Calculation, predictions: Predictions) -> str:
    if figure.formula.startswith(ESTIMATE):
        return predicted_figures.address(predictions.of(figure.formula))
    return f"{SCHEME}{explained(figure)}"


def filled(text: str, site: SiteData) -> str:
    """Return a text in which each empty link of a calculated or predicted figure has its figure."""
    if f"[]({CALC}" not in text and f"[]({ESTIMATE}" not in text:
        return text
    predictions = Predictions(site.tree.root)
    found = Calculations(text, links_of(text), source_of(site.tree, site.board, predictions)).found
    changes = []
    for each in found:
        if not each.link.text:
            card = f", {predicted_figures.card_of(predictions.of(each.formula))}" if _tinted(each) else ""
            changes.append((each.link.start, each.link.end, rewrite(each).right + card))
    return _changed(text, changes)


def _tinted(figure: Calculation) -> bool:
    return figure.formula.startswith(ESTIMATE) and figure.link.title == predicted_figures.TINTED


def _changed(text: str, changes: list[tuple[int, int, str]]) -> str:
    parts, done = [], 0
    for start, end, new in sorted(changes):
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])

"""Fix table markup for screen readers and for phones."""

import re
from collections.abc import Sequence
from html import unescape
from xml.etree.ElementTree import Element

from headroom.pictures.text_width import width_of

CARDS, LABEL = "data-cards", "data-l"
_PHONE = 308.0
"""The width of a table on a phone, in pixels: 360, without the margins of the page and of a fold."""
_GAP = 14.0
"""The gap between two columns, in pixels."""
_UNBROKEN = {"badge", "claim-figure", "calculated", "predicted"}
"""The classes of text that the style sheet keeps on one line."""
_MOST_LINES = 4
"""The lines of a cell from which a card is easier to read."""
_STASHED = re.compile("\x02(?:(amp)|(\\d+)|wzxhzdk:(\\d+)|[^\x03]*)\x03")
"""Python-Markdown's placeholder of an ampersand, an escaped character, or an HTML tag or entity."""
_FONT = 14 / 12
"""The size of a table's text, in that of ``width_of``."""


def clear_empty_headers(root: Element) -> None:
    """Turn each empty header cell into a data cell, because an empty header announces nothing."""
    for head in root.iter("thead"):
        for cell in head.iter("th"):
            if not len(cell) and not (cell.text or "").strip():
                cell.tag = "td"


def label_wide_tables(root: Element, stash: Sequence[object]) -> None:
    """Mark each table that is too wide for a phone, and give its cells their column's header as a label.

    The style sheet turns the rows of a marked table into cards on a narrow screen.

    Args:
        root: the page's elements.
        stash: the raw HTML that Python-Markdown has replaced by placeholders.
    """
    for table in root.iter("table"):
        rows = [list(row) for row in table.iter("tr")]
        if rows and _is_wide(rows):
            _label(table, rows, stash)


def _label(table: Element, rows: list[list[Element]], stash: Sequence[object]) -> None:
    table.set(CARDS, "")
    titles = [_text(cell, stash) for cell in rows[0]]
    for row in rows[1:]:
        for column, (title, cell) in enumerate(zip(titles, row, strict=False)):
            if title and (
                column or not re.search("[A-Za-z]", _text(cell))
            ):  # a first cell in words is the card's title
                cell.set(LABEL, title)


def _is_wide(rows: list[list[Element]]) -> bool:
    """Return whether the columns at their least widths, next to each other, exceed a phone."""
    columns = zip(*(row for row in rows if len(row) == len(rows[0])), strict=True)
    return sum(max(map(_least_width, column)) + _GAP for column in columns) > _PHONE


def _least_width(cell: Element) -> float:
    """Return the width in pixels at which a cell has few lines and no broken word."""
    whole = _text(cell)
    unbroken = [_text(each) for each in cell.iter() if _UNBROKEN & {*each.get("class", "").split()}]
    longest = max(map(width_of, [*re.split(r"[ \n]", whole), *unbroken]))
    return _FONT * max(longest, width_of(whole) / _MOST_LINES)


def _text(cell: Element, stash: Sequence[object] = ()) -> str:
    """Return a cell's text; without the stash, entities are left out."""

    def restored(found: re.Match[str]) -> str:
        if found[1]:
            return "&"
        if found[2]:
            return chr(int(found[2]))
        raw = str(stash[int(found[3])]) if found[3] and int(found[3]) < len(stash) else ""
        return unescape(raw) if raw.startswith("&") else ""

    return _STASHED.sub(restored, "".join(cell.itertext())).strip()

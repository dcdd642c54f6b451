"""Rows of tables: figures that stand side by side belong together."""

import re
from collections import defaultdict
from collections.abc import Iterator

from headroom.pages.link_targets import ClaimTarget
from headroom.pages.source import Link, Page
from headroom.records import Problem
from headroom.rules.context import Context, at

_WHOLE = re.compile(r"\s*\|\s*(\d[\d,]*)\s*\|")
_OF_ARMS = ("subject", "baseline")
_ALONE = (*_OF_ARMS, "value")  # what is the ratio of nothing

Row = list[tuple[Link, ClaimTarget]]


def rows(context: Context) -> Iterator[Problem]:
    """The figures of a row are of one point, and a ratio stands beside the figures that it is the ratio of."""
    found: dict[tuple[str, int], Row] = defaultdict(list)
    pages = {page.path: page for page in context.pages}
    lines = {page.path: page.markdown.split("\n") for page in context.pages}
    for page, link, target in context.claim_links:
        if target.figure and lines[page.path][link.line - 1].lstrip().startswith("|"):
            found[page.path, link.line].append((link, target))
    for (path, line), row in found.items():
        yield from _of_two_points(pages[path], row, lines[path][line - 1])
        yield from _beside_others(pages[path], row)


def _of_two_points(page: Page, row: Row, text: str) -> Iterator[Problem]:
    """A figure whose point is not the number that the row begins with, or not that of a figure before it.

    What is computed may be shown for several cases side by side.
    """
    first = _WHOLE.match(text)
    begins = float(first[1].replace(",", "")) if first else None
    seen: dict[str, object] = {}
    for link, target in row:
        if target.figure == "value":
            continue
        if begins is not None and target.point and not seen and begins not in target.point.values():
            message = f"a figure at {_said(target)} in a row that begins with {begins:g}"
            yield at(page, link, "rows", message, "name the point that the row is of")
        if any(seen.setdefault(axis, value) != value for axis, value in target.point.items()):
            message = f"a figure at {_said(target)} in a row with one at another point"
            yield at(page, link, "rows", message, "name one point a row")


def _said(target: ClaimTarget) -> str:
    return ", ".join(f"`{axis}={value}`" for axis, value in target.point.items())


def _beside_others(page: Page, row: Row) -> Iterator[Problem]:
    """A ratio, a slowdown or a change in a row that shows the figures of other claims alone."""
    shown = {target.claim for _, target in row if target.figure in _OF_ARMS}
    for link, target in row:
        if shown and target.figure not in _ALONE and target.claim not in shown:
            message = f"the {target.figure} of `{target.claim}` stands beside figures of {', '.join(sorted(shown))}"
            yield at(page, link, "rows", message, "link the claim that the row is about")

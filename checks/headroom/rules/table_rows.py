"""Rule `rows`: the figures in one row of a table belong to the same point and claim."""

import re
from collections import defaultdict
from collections.abc import Iterator

from headroom.pages.link_targets import ClaimTarget
from headroom.pages.source import Link, Page
from headroom.records import Problem
from headroom.rules.context import Context, at

_WHOLE = re.compile(r"\s*\|\s*(\d[\d,]*)\s*\|")
_OF_ARMS = ("subject", "baseline")
_ABSOLUTE = (*_OF_ARMS, "value")  # neither a ratio nor a difference of two arms

Row = list[tuple[Link, ClaimTarget]]


def rows(context: Context) -> Iterator[Problem]:
    """Report rows with figures of two points, and rows with a ratio of one claim next to figures of another."""
    found: dict[tuple[str, int], Row] = defaultdict(list)
    pages = {page.path: page for page in context.pages}
    lines = {page.path: page.markdown.split("\n") for page in context.pages}
    for page, link, target in context.claim_links:
        if target.figure and lines[page.path][link.line - 1].lstrip().startswith("|"):
            found[page.path, link.line].append((link, target))
    for (path, line), row in found.items():
        yield from _of_two_points(pages[path], row, lines[path][line - 1])
        yield from _of_two_claims(pages[path], row)


def _of_two_points(page: Page, row: Row, text: str) -> Iterator[Problem]:
    """Report figures whose point differs from the number at the start of the row or from an earlier figure's point.

    A row may show computed values for several cases.
    """
    first = _WHOLE.match(text)
    begins = float(first[1].replace(",", "")) if first else None
    seen: dict[str, object] = {}
    for link, target in row:
        if target.figure == "value":
            continue
        if begins is not None and target.point and not seen and begins not in target.point.values():
            message = f"the row begins with {begins:g}, but this figure is measured at {_point(target)}"
            yield at(page, link, "rows", message, "link the figure at the point of the row")
        if any(seen.setdefault(axis, value) != value for axis, value in target.point.items()):
            message = f"this figure is measured at {_point(target)}, and an earlier one in the row at another point"
            yield at(page, link, "rows", message, "use one row per point")


def _point(target: ClaimTarget) -> str:
    return ", ".join(f"`{axis}={value}`" for axis, value in target.point.items())


def _of_two_claims(page: Page, row: Row) -> Iterator[Problem]:
    """Report a ratio, slowdown or change of one claim in a row with figures of other claims only."""
    shown = {target.claim for _, target in row if target.figure in _OF_ARMS}
    for link, target in row:
        if shown and target.figure not in _ABSOLUTE and target.claim not in shown:
            others = ", ".join(sorted(shown))
            message = f"the row shows the {target.figure} of `{target.claim}`, but the figures of {others}"
            yield at(page, link, "rows", message, "link figures of the same claim in one row")

"""Rule `calc`: each calculated or predicted figure equals its result, and every `let` of a page is used."""

from collections.abc import Iterator

from headroom.io.safe_read import UnreadableError
from headroom.pages.calculated_text import Rewrite, rewrite
from headroom.pages.calculations import Calculation, Calculations
from headroom.pages.figure_sources import source_of
from headroom.pages.source import Page
from headroom.records import Problem
from headroom.rules.context import Context, at


def calc(context: Context) -> Iterator[Problem]:
    """Report calculated and predicted figures that differ from their result as printed, and unused lets."""
    for page, calculations in _calculations(context):
        for fault in calculations.faults:
            yield Problem(page.path, fault.line, "calc", "", fault.message, fault.remedy)
        for each in calculations.found:
            yield from _printed(page, each)


def rewrites(context: Context) -> Iterator[tuple[Page, Calculation, Rewrite]]:
    """Yield the calculated and predicted figures that `--fix` rewrites, each with its page."""
    for page, calculations in _calculations(context):
        for each in calculations.found:
            try:
                found = rewrite(each)
            except UnreadableError:
                continue
            if found.differs and each.link.text:
                yield page, each, found


def _calculations(context: Context) -> Iterator[tuple[Page, Calculations]]:
    source = source_of(context.tree, context.board)
    return ((page, Calculations(page.markdown, page.links, source)) for page in context.pages)


def _printed(page: Page, calculation: Calculation) -> Iterator[Problem]:
    try:
        found = rewrite(calculation)
    except UnreadableError as error:
        yield at(page, calculation.link, "calc", error.message, error.remedy)
        return
    if found.differs and calculation.link.text:
        comes_to = f"`{calculation.formula}` comes to `{found.right}{found.unit}`"
        message = f"`{found.printed}{found.unit}` is printed, {comes_to}"
        yield at(page, calculation.link, "calc", message, "run `headroom check --fix`, or correct the formula")

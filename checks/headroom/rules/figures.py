"""Figures in texts: held to the evidence, and rewritten from it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headroom import files
from headroom.prose.figures import measured
from headroom.prose.pages import Link, Page
from headroom.records import Problem
from headroom.rules.context import Context, at, claim_links, links
from headroom.units import Figure

OPEN = "?"
"""What an author writes in place of a figure that is not known yet."""
_USUAL = {"ratio": "1.00×", "slowdown": "1.00×", "change": "+1 %"}
_USUAL_BY_UNIT = {"B": "1.0 MiB", "s": "1.0 ms", "tokens/s": "1 tokens/s"}


def asked(link: Link, value: float, unit: str) -> str:
    """The text of a figure's link, or in place of an open one the form in which such a figure is usually printed."""
    if link.text != OPEN or not link.href.startswith("claim:"):
        return link.text
    name = link.href.partition("#")[2].partition("@")[0]
    return _USUAL.get(name) or _USUAL_BY_UNIT.get(unit, f"{value:,.0f}")


@dataclass(frozen=True, slots=True)
class Fix:
    """A text of a page that is to be replaced."""

    path: str
    start: int
    end: int
    text: str


def figures(context: Context) -> Iterator[Problem]:
    """A figure in a text is what the evidence or the fact says, to its printed precision."""
    for page, link, value, unit in _figures(context):
        if isinstance(value, str):
            yield at(page, link, "figures", value, "correct the link, or measure it")
            continue
        printed = Figure.find(asked(link, value, unit))
        if printed is None:
            message = f"`{link.text}` holds no figure, or more than one"
            yield at(page, link, "figures", message, "write one figure a link, or `?` for --fix to fill")
            continue
        try:
            right = printed.written(value, unit)
        except ValueError as error:
            yield at(page, link, "figures", str(error), "write the figure in a unit of its metric")
            continue
        if right != printed.text or link.text == OPEN:
            shown = OPEN if link.text == OPEN else printed.text
            message = f"`{shown}` is printed, `{right}` is measured"
            yield at(page, link, "figures", message, "run `headroom check --fix`")


def fixes(context: Context) -> list[Fix]:
    """The figures that can be rewritten from the evidence."""
    found = []
    for page, link, value, unit in _figures(context):
        printed = None if isinstance(value, str) else Figure.find(asked(link, value, unit))
        if isinstance(value, str) or printed is None:
            continue
        try:
            right = printed.written(value, unit)
        except ValueError:
            continue
        if link.text == OPEN:
            found.append(Fix(page.path, page.place(link.start), page.place(link.end), right))
        elif right != printed.text:
            start = link.start + printed.start
            found.append(Fix(page.path, page.place(start), page.place(start + len(printed.text)), right))
    return found


def apply(root: Path, context: Context) -> list[Fix]:
    """Rewrite the figures that differ from the evidence, each page in one piece, and return what was rewritten."""
    found = fixes(context)
    texts = {page.path: page.text for page in context.pages}
    for path in sorted({fix.path for fix in found}):
        rows = (root / path).read_bytes().decode("utf-8").split("\n")  # with the line ends that the file has
        for fix in sorted((fix for fix in found if fix.path == path), key=lambda fix: -fix.start):
            number, column = _place(texts[path], fix.start)
            row = rows[number]
            rows[number] = row[:column] + fix.text + row[column + fix.end - fix.start :]
        files.write_atomic(root / path, "\n".join(rows))
    return found


def _place(text: str, position: int) -> tuple[int, int]:
    """The row and the column of a character, from 0."""
    return text.count("\n", 0, position), position - text.rfind("\n", 0, position) - 1


def _figures(context: Context) -> Iterator[tuple[Page, Link, float | str, str]]:
    """Every figure of every page with its value and unit, or with what is wrong in place of the value."""
    for page, link, target in claim_links(context):
        if target.figure:
            try:
                yield page, link, *measured(context.tree, context.board, target)
            except LookupError as error:
                yield page, link, str(error), ""
    for page, link in links(context):
        if link.href.startswith("fact:"):
            sheet, _, figure = link.href.removeprefix("fact:").partition(".")
            cell = context.tree.facts[sheet].figures.get(figure) if sheet in context.tree.facts else None
            if cell:
                yield page, link, cell.value, cell.unit

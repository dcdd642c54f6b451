"""Figures in texts: held to the evidence, and rewritten from it."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headroom import files, writing
from headroom.prose.figures import measured
from headroom.prose.pages import Link, Page
from headroom.records import Problem
from headroom.rules.calc import rewrites
from headroom.rules.context import Context, at
from headroom.rules.modelled import sound
from headroom.units import Figure

OPEN = "?"
"""What an author writes in place of a figure that is not known yet."""
_USUAL = {"ratio": "1.00×", "slowdown": "1.00×", "change": "+1 %"}
_USUAL_BY_UNIT = {"B": "1.0 MiB", "MiB": "1.0 MiB", "GiB": "1.0 GiB", "s": "1.0 ms", "tokens/s": "1 tokens/s"}


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

    def __str__(self) -> str:
        return f"{self.path}: rewrote a figure as `{self.text}`"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A page with figures that differ, which somebody has written while it was looked at."""

    path: str

    def __str__(self) -> str:
        return f"{self.path}: was changed meanwhile, and is left so; run `headroom check --fix` again"


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
    """The figures that can be rewritten from the evidence, or from their formulas."""
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
    for page, calculation, new in rewrites(context):
        start = calculation.link.start + new.start
        found.append(Fix(page.path, page.place(start), page.place(start + len(new.printed)), new.right))
    return found


def apply(root: Path, context: Context) -> Iterator[Fix | Skipped]:
    """Rewrite the figures that differ from the evidence, each page in one piece, and tell what was done.

    A page keeps every other byte. One that somebody has written since it was read is left alone.

    Raises:
        UnwritableError: a page cannot be written; those before it are, and those after it are not.
    """
    found = fixes(context)
    for page in context.pages:
        of_page = [fix for fix in found if fix.path == page.path]
        if of_page:
            try:
                _rewrite(root / page.path, page.text, of_page)
            except writing.ChangedError:
                yield Skipped(page.path)
            else:
                yield from of_page


def _rewrite(path: Path, text: str, of_page: list[Fix]) -> None:
    """Replace texts of a page, which were found in ``text``, in the file as it is on the disk.

    Raises:
        ChangedError: the file is no longer what was read.
        UnwritableError: it cannot be written.
    """
    before = path.read_bytes() if path.is_file() else b""
    raw = after = before.decode("utf-8", errors="replace")
    if files.newlines(raw) != text:
        raise writing.ChangedError(path)
    # Where lines end in two characters, as Windows has it, a place in the file is later by one a line.
    ends = [match.start() - number for number, match in enumerate(re.finditer("\r\n", raw))]
    for fix in sorted(of_page, key=lambda fix: -fix.start):
        start, end = (at + bisect_left(ends, at) for at in (fix.start, fix.end))
        after = after[:start] + fix.text + after[end:]
    writing.write_atomic(path, after, over=before)


def _figures(context: Context) -> Iterator[tuple[Page, Link, float | str, str]]:
    """Every figure of every page with its value and unit, or with what is wrong in place of the value."""
    for page, link, target in context.claim_links:
        if target.figure and sound(context, target.claim):
            try:
                yield page, link, *measured(context.tree, context.board, target)
            except LookupError as error:
                yield page, link, str(error), ""
    for page, link, _ in context.links:
        if link.href.startswith("fact:"):
            sheet, _, figure = link.href.removeprefix("fact:").partition(".")
            cell = context.tree.facts[sheet].figures.get(figure) if sheet in context.tree.facts else None
            if cell:
                yield page, link, cell.value, cell.unit

"""Rule `figures`: linked figures equal the evidence at their printed precision; `--fix` rewrites those that do not."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headroom.io import atomic_write, safe_read
from headroom.maths.units import Figure
from headroom.pages.measured_figures import measured
from headroom.pages.source import Link, Page
from headroom.records import Problem
from headroom.rules.calc import rewrites
from headroom.rules.context import Context, at
from headroom.rules.formulas import sound

OPEN = "?"
"""The placeholder for a figure that `--fix` is to fill in."""
_USUAL = {"ratio": "1.00×", "ratio-low": "1.00×", "ratio-high": "1.00×", "slowdown": "1.00×", "change": "+1 %"}
_USUAL_BY_UNIT = {"B": "1.0 MiB", "MiB": "1.0 MiB", "GiB": "1.0 GiB", "s": "1.0 ms", "tokens/s": "1 tokens/s"}
_USUAL_BY_UNIT |= {"MB": "1 MB", "GB": "1.0 GB", "ms": "1.0 ms", "samples/s": "1.0 samples/s", "images/s": "1 images/s"}


def printed_form(link: Link, value: float, unit: str) -> str:
    """Return the text of a figure's link, or for the placeholder the usual form of such a figure."""
    if link.text != OPEN or not link.href.startswith("claim:"):
        return link.text
    name = link.href.partition("#")[2].partition("@")[0]
    return _USUAL.get(name) or _USUAL_BY_UNIT.get(unit, f"{value:,.0f}")


@dataclass(frozen=True, slots=True)
class Fix:
    """A replacement of a text on a page."""

    path: str
    start: int
    end: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}: rewrote a figure as `{self.text}`"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A page that changed while it was checked, so that its figures were not rewritten."""

    path: str

    def __str__(self) -> str:
        return f"{self.path}: changed during the check, so it was not rewritten; run `headroom check --fix` again"


def figures(context: Context) -> Iterator[Problem]:
    """Report figures that differ from the evidence or the fact at their printed precision."""
    for page, link, value, unit in _figures(context):
        if isinstance(value, str):
            yield at(page, link, "figures", value, "correct the link, or measure the figure")
            continue
        printed = Figure.find(printed_form(link, value, unit))
        if printed is None:
            message = f"`{link.text}` holds no figure, or more than one"
            yield at(page, link, "figures", message, "write one figure per link, or `?` and run `headroom check --fix`")
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
    """Return the rewrites of figures from the evidence or from their formulas."""
    found = []
    for page, link, value, unit in _figures(context):
        printed = None if isinstance(value, str) else Figure.find(printed_form(link, value, unit))
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
    """Rewrite the figures that differ from the evidence, each page atomically, and yield what was done.

    All other bytes of a page are kept. A page that changed since it was read is skipped.

    Raises:
        UnwritableError: a page cannot be written; earlier pages are rewritten, and later pages are not.
    """
    found = fixes(context)
    for page in context.pages:
        of_page = [fix for fix in found if fix.path == page.path]
        if of_page:
            try:
                _rewrite(root / page.path, page.text, of_page)
            except atomic_write.ChangedError:
                yield Skipped(page.path)
            else:
                yield from of_page


def _rewrite(path: Path, text: str, of_page: list[Fix]) -> None:
    """Apply replacements that were found in ``text`` to the file on disk.

    Raises:
        ChangedError: the file changed since it was read.
        UnwritableError: the file cannot be written.
    """
    before = path.read_bytes() if path.is_file() else b""
    raw = after = before.decode("utf-8", errors="replace")
    if safe_read.newlines(raw) != text:
        raise atomic_write.ChangedError(path)
    # With Windows line ends, a position in the file is greater by one per line before it.
    ends = [match.start() - number for number, match in enumerate(re.finditer("\r\n", raw))]
    for fix in sorted(of_page, key=lambda fix: -fix.start):
        start, end = (at + bisect_left(ends, at) for at in (fix.start, fix.end))
        after = after[:start] + fix.text + after[end:]
    atomic_write.write_atomic(path, after, over=before)


def _figures(context: Context) -> Iterator[tuple[Page, Link, float | str, str]]:
    """Yield every linked figure with its value and unit, or with an error message instead of the value."""
    for page, link, target in context.claim_links:
        if target.figure and sound(context, target.claim):
            try:
                yield page, link, *measured(context.tree, context.board, target)
            except LookupError as error:
                yield page, link, str(error), ""
    for page, link, _ in context.links:
        if link.href.startswith("fact:"):
            sheet, _, figure = link.href.removeprefix("fact:").partition(".")
            cell = known.figures.get(figure) if (known := context.tree.sheet(sheet)) else None
            if cell:
                yield page, link, cell.value, cell.unit

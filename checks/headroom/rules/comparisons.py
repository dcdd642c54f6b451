"""Comparative sentences of readers' pages: each rests on a claim or a figure, or a note says why it needs none."""

from collections import Counter
from collections.abc import Iterable, Iterator

from headroom.prose.comparing import NO_CLAIM
from headroom.prose.pages import Page
from headroom.prose.sentences import Note
from headroom.records import Problem
from headroom.rules.context import Context

_QUOTED = 60
"""How many characters of a sentence a message quotes."""
_REMEDY = (
    "link it to a claim or a computed figure, or write `<!-- no-claim: KIND -->` behind it "
    "(docs/contribute/comparisons.md)"
)


def comparisons(context: Context) -> Iterator[Problem]:
    """Report each comparison on a reader's page without a link to its grounds and without a note, and wrong notes."""
    for page in context.pages:
        if not page.for_readers:
            continue
        said = context.prose[page.path]
        for each in said.comparisons:
            if not each.linked and each.remark is None:
                message = f'"{_first_words(each.text)}" compares, and rests on no claim and no figure'
                yield Problem(page.path, each.line, "comparisons", "", message, _REMEDY)
        yield from _wrong_notes(page, said.notes, {each.remark.start for each in said.comparisons if each.remark})


def tally(context: Context) -> Counter[str]:
    """Count the comparative sentences of readers' pages: `linked`, by the kind of their note, or `open`."""
    found = [each for page in context.pages if page.for_readers for each in context.prose[page.path].comparisons]
    return Counter("linked" if each.linked else each.note or "open" for each in found)


def _wrong_notes(page: Page, notes: Iterable[Note], used: set[int]) -> Iterator[Problem]:
    """Notes of an unknown kind, and those behind a sentence that compares nothing."""
    for note in notes:
        if note.kind not in NO_CLAIM:
            remedy = f"use one of: {', '.join(NO_CLAIM)}"
            yield Problem(page.path, note.line, "comparisons", "", f"`{note.kind}` is no kind of a note", remedy)
        elif note.start not in used:
            message = f"the note `{note.kind}` follows no sentence that compares"
            yield Problem(
                page.path, note.line, "comparisons", "", message, "remove it, or move it right behind its sentence"
            )


def _first_words(text: str) -> str:
    if len(text) <= _QUOTED:
        return text
    return text[:_QUOTED].rpartition(" ")[0] + " …"

"""Comparative sentences: each is linked to a claim, or a note says why it needs none."""

from collections import Counter
from collections.abc import Iterable, Iterator

from headroom.comparatives import NO_CLAIM
from headroom.pages.sentences import Note
from headroom.pages.source import Page
from headroom.records import Problem
from headroom.rules.context import Context

_QUOTED = 60
"""How many characters of a sentence a message quotes."""
_REMEDY = "link it to a claim, or write `<!-- no-claim: KIND -->` behind it (docs/contribute/comparisons.md)"


def comparisons(context: Context) -> Iterator[Problem]:
    """A sentence that compares is linked to a claim, or a note behind it says why it needs none."""
    for page in context.pages:
        said = context.prose[page.path]
        for each in said.comparisons:
            if not each.linked and each.remark is None:
                message = f'"{_first_words(each.text)}" compares, and stands on no claim'
                yield Problem(page.path, each.line, "comparisons", "", message, _REMEDY)
        yield from _wrong_notes(page, said.notes, {each.remark.start for each in said.comparisons if each.remark})


def tally(context: Context) -> Counter[str]:
    """How many comparative sentences there are: `linked`, by the kind of their note, or `open`."""
    found = [each for said in context.prose.values() for each in said.comparisons]
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

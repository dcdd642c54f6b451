"""Comparative sentences: each is linked to a claim, or a note says why it needs none."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from headroom.prose.comparing import NO_CLAIM, Comparison
from headroom.prose.comparing import comparisons as compared
from headroom.prose.pages import Page
from headroom.prose.sentences import notes
from headroom.records import Problem
from headroom.rules.context import Context

_QUOTED = 60
"""How many characters of a sentence a message quotes."""
_REMEDY = "link it to a claim, or write `<!-- no-claim: KIND -->` behind it (docs/contribute/comparisons.md)"


def comparisons(context: Context) -> Iterator[Problem]:
    """A sentence that compares is linked to a claim, or a note behind it says why it needs none."""
    for page in context.pages:
        found = _compared(page.markdown)
        for each in found:
            if not each.linked and each.remark is None:
                message = f'"{_first_words(each.text)}" compares, and stands on no claim'
                yield Problem(page.path, each.line, "comparisons", "", message, _REMEDY)
        yield from _wrong_notes(page, {each.remark.start for each in found if each.remark})


def tally(context: Context) -> Counter[str]:
    """How many comparative sentences there are: `linked`, by the kind of their note, or `open`."""
    found = [each for page in context.pages for each in _compared(page.markdown)]
    return Counter("linked" if each.linked else each.note or "open" for each in found)


def _wrong_notes(page: Page, used: set[int]) -> Iterator[Problem]:
    """Notes of an unknown kind, and those behind a sentence that compares nothing."""
    for note in notes(page.markdown):
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


@lru_cache(maxsize=512)  # pages are asked twice; a server that watches them sees many texts
def _compared(prose: str) -> tuple[Comparison, ...]:
    return tuple(compared(prose))

"""Comparative sentences of readers' pages: each rests on a claim or a figure, or a note says why it needs none."""

from collections import Counter
from collections.abc import Iterator

from headroom.prose.comparing import NO_CLAIM, SHOWN
from headroom.prose.comparing import comparisons as compared
from headroom.prose.pages import Page
from headroom.prose.reading import Prose
from headroom.records import Problem
from headroom.rules.context import Context
from headroom.rules.typed_figures import typed_figures

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
        yield from _title(page)
        yield from _wrong_notes(page, said)


def tally(context: Context) -> Counter[str]:
    """Count the comparative sentences of readers' pages: `linked`, by the kind of their note, or `open`."""
    found = [each for page in context.pages if page.for_readers for each in context.prose[page.path].comparisons]
    return Counter("linked" if each.linked else each.note or "open" for each in found)


def _title(page: Page) -> Iterator[Problem]:
    """Report a title in the front matter that compares: no link and no note can stand there."""
    title = str(page.meta.get("title", ""))
    if compared(f"# {title}"):
        message = f'the title "{_first_words(title)}" compares, and nothing can be linked in it'
        yield Problem(page.path, 1, "comparisons", "", message, "name the subject, and compare in the text")


def _wrong_notes(page: Page, said: Prose) -> Iterator[Problem]:
    """Report notes of an unknown kind, and those behind a sentence that neither compares nor types a figure."""
    used = {each.remark.start for each in said.comparisons if each.remark}
    if any(note.start not in used for note in said.notes):
        used |= {sentence.remark.start for sentence, *_ in typed_figures(page, said.sentences) if sentence.remark}
    for note in said.notes:
        if note.kind not in NO_CLAIM:
            remedy = f"use one of: {', '.join(NO_CLAIM)}"
            yield Problem(page.path, note.line, "comparisons", "", f"`{note.kind}` is no kind of a note", remedy)
        elif note.start not in used and note.kind != SHOWN:
            message = f"the note `{note.kind}` follows no sentence that compares or types a figure"
            yield Problem(
                page.path, note.line, "comparisons", "", message, "remove it, or move it right behind its sentence"
            )


def _first_words(text: str) -> str:
    if len(text) <= _QUOTED:
        return text
    return text[:_QUOTED].rpartition(" ")[0] + " …"

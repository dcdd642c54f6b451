"""Comparative sentences of readers' pages: each rests on a claim or a figure, or a note says why it needs none."""

import re
from collections import Counter
from collections.abc import Container, Iterator

from headroom import comparatives
from headroom.comparatives import NO_CLAIM, SHOWN
from headroom.pages.analysis import Prose
from headroom.pages.source import Page
from headroom.records import Problem
from headroom.rules.context import Context
from headroom.rules.typed_figures import typed_figures

_ATTRIBUTE = re.compile(r"\b(?:alt|title|aria-label)=\"(?P<text>[^\"]+)\"")
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
        yield from _aside(page, {each.text for each in said.comparisons})
        yield from _wrong_notes(page, said)


def _aside(page: Page, judged: Container[str]) -> Iterator[Problem]:
    """Comparisons in a page's title, where no heading says the same, in alternative texts and in titles of links."""
    remedy = "name the topic, and compare in a sentence that is linked to a claim"
    for line, text in (*_front_matter(page), *_unseen_texts(page)):
        if text not in judged and (comparatives.comparisons(f"# {text}") or comparatives.comparisons(text)):
            message = f'"{_first_words(text)}" compares, where no claim can be linked'
            yield Problem(page.path, line, "comparisons", "", message, remedy)


def _front_matter(page: Page) -> Iterator[tuple[int, str]]:
    """The title in a page's front matter or in a notebook's metadata, with its line."""
    if title := page.meta.get("title"):
        rows = page.text.split("\n")
        named = (number for number, row in enumerate(rows, 1) if re.match(r'\s*"?title"?\s*:', row))
        yield next(named, 1), str(title)


def _unseen_texts(page: Page) -> Iterator[tuple[int, str]]:
    """Alternative texts of images, and titles of links that are no claim's."""
    for link in page.links:
        if page.markdown.endswith("![", 0, link.start):
            yield link.line, link.text
        if link.title and not link.href.startswith(("claim:", "fact:")):
            yield link.line, link.title
    for line, row in enumerate(page.markdown.split("\n"), 1):
        if '="' in row:
            yield from ((line, match["text"]) for match in _ATTRIBUTE.finditer(row))


def tally(context: Context) -> Counter[str]:
    """Count the comparative sentences of readers' pages: `linked`, by the kind of their note, or `open`."""
    found = [each for page in context.pages if page.for_readers for each in context.prose[page.path].comparisons]
    return Counter("linked" if each.linked else each.note or "open" for each in found)


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

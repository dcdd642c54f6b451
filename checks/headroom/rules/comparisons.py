"""Rule `comparisons`: each comparative sentence on a reader's page links a claim or figure, or has a note why not."""

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
"""The number of characters of a sentence that a message quotes."""
_REMEDY = (
    "link it to a claim or a computed figure, or write `<!-- no-claim: KIND -->` after it "
    "(docs/contribute/comparisons.md)"
)


def comparisons(context: Context) -> Iterator[Problem]:
    """Report comparisons on readers' pages without a link and without a note, and notes that are wrong or unused."""
    for page in context.pages:
        if not page.for_readers:
            continue
        prose = context.prose[page.path]
        for each in prose.comparisons:
            if not each.linked and each.remark is None:
                message = f'"{_first_words(each.text)}" makes a comparison without a link to a claim or figure'
                yield Problem(page.path, each.line, "comparisons", "", message, _REMEDY)
        yield from _outside_text(page, {each.text for each in prose.comparisons})
        yield from _wrong_notes(page, prose)


def _outside_text(page: Page, checked: Container[str]) -> Iterator[Problem]:
    """Report comparisons in a page's title (unless a heading is the same), in alternative texts and in link titles."""
    remedy = "name only the topic here, and compare in a sentence that links a claim"
    for line, text in (*_front_matter(page), *_attribute_texts(page)):
        if text not in checked and (comparatives.comparisons(f"# {text}") or comparatives.comparisons(text)):
            message = f'"{_first_words(text)}" makes a comparison where no claim can be linked'
            yield Problem(page.path, line, "comparisons", "", message, remedy)


def _front_matter(page: Page) -> Iterator[tuple[int, str]]:
    """Yield the title in a page's front matter or a notebook's metadata, with its line."""
    if title := page.meta.get("title"):
        rows = page.text.split("\n")
        named = (number for number, row in enumerate(rows, 1) if re.match(r'\s*"?title"?\s*:', row))
        yield next(named, 1), str(title)


def _attribute_texts(page: Page) -> Iterator[tuple[int, str]]:
    """Yield the alternative texts of images, and the titles of links other than claim and fact links."""
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


def _wrong_notes(page: Page, prose: Prose) -> Iterator[Problem]:
    """Report notes of an unknown kind, and notes after a sentence that neither compares nor types a figure."""
    used = {each.remark.start for each in prose.comparisons if each.remark}
    if any(note.start not in used for note in prose.notes):
        used |= {sentence.remark.start for sentence, *_ in typed_figures(page, prose.sentences) if sentence.remark}
    for note in prose.notes:
        if note.kind not in NO_CLAIM:
            remedy = f"use one of: {', '.join(NO_CLAIM)}"
            yield Problem(page.path, note.line, "comparisons", "", f"unknown kind of note `{note.kind}`", remedy)
        elif note.start not in used and note.kind != SHOWN:
            message = f"the sentence before the note `{note.kind}` neither compares nor types a figure"
            remedy = "remove the note, or move it directly after its sentence"
            yield Problem(page.path, note.line, "comparisons", "", message, remedy)


def _first_words(text: str) -> str:
    if len(text) <= _QUOTED:
        return text
    return text[:_QUOTED].rpartition(" ")[0] + " …"

"""Rule `typed`: times, rates, percentages, ratios and GiB/MiB sizes on readers' pages link to their source."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Final

from headroom.pages.markdown_syntax import comments, inline_code, masked, without_fences
from headroom.pages.sentences import Sentence
from headroom.pages.source import Link, Page
from headroom.pages.visible_text import visible_text
from headroom.records import Problem
from headroom.rules.context import Context

_NUMBER: Final = r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?:\s?×\s?10(?=[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]))?[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*"
_COMPARED: Final = r"(?:as|more|less|fewer|\w+er|the|its|that|what)\b"
_UNITS: Final = "|".join(
    (
        r"\s?%(?!\w)|\s?per\s?cent\b|\spercentage points?\b",
        r"[×x](?!\s?[A-Z]*\d|\w)|-fold\b",  # neither 4 × 2,048 nor 8x H100
        rf"(?:(?<=\.\d)|(?<=\.\d\d)|(?=\stimes\s{_COMPARED}))\stimes\b",  # not: run it 3 times
        r"\s?[KMGT]iB(?:/s)?\b",
        r"[\s-]?(?:(?:nano|micro|milli)?seconds?|minutes?|hours?)\b|\s?(?:n|[µμ]|u|m)?s\b|\s(?:min|h)\b",
        r"\s?[A-Za-z]+/s(?:ec|econd)?\b|(?:\s[A-Za-z]+){0,3}?\s(?:a|per)\s(?:second|minute|hour)\b",
        r"\s?[KMGTPE]FLOP(?:S|s|/s)\b",
    )
)
_FIGURE: Final = re.compile(rf"{_NUMBER}(?:{_UNITS})")
_NOT_MEANT: Final = re.compile(r"(?:19|20)\d0s|(?:0|100)\s?%")
"""Decades such as 1990s, 0 % and 100 %."""
_GROUNDS: Final = ("claim:", "fact:", "calc:", "estimate:")
_ATTRIBUTE: Final = re.compile(r"(?<![\w-])(?:alt|title|aria-label)\s*=\s*\"([^\"]*)\"")
_IN_META: Final = ("title", "description")
_LINKED: Final = (
    "link it to its source with `claim:`, `fact:`, `calc:` or `estimate:`, "
    "or write `<!-- no-claim: KIND -->` after its sentence (docs/contribute/comparisons.md)"
)
_IN_TEXT: Final = "move the figure to the text of the page, and link it there"


def typed(context: Context) -> Iterator[Problem]:
    """Report each time, rate, percentage, ratio and binary size that is typed on a reader's page."""
    for page in context.pages:
        if page.for_readers:
            for sentence, place, figure in typed_figures(page, context.prose[page.path].sentences):
                if sentence.remark is None:
                    line = page.markdown.count("\n", 0, place) + 1
                    message = f"the figure `{figure}` is typed by hand, so no check keeps it true"
                    yield Problem(page.path, line, "typed", "", message, _LINKED)
            for line, figure in sorted({*_in_meta(page), *_in_attributes(page)}):
                message = f"the figure `{figure}` is in a title, description or alternative text, which cannot link it"
                yield Problem(page.path, line, "typed", "", message, _IN_TEXT)


def typed_figures(page: Page, sentences: Iterable[Sentence]) -> Iterator[tuple[Sentence, int, str]]:
    """Yield each figure in a page's sentences, outside of code and source links, with its sentence and position."""
    body = without_fences(page.markdown)
    source = masked(body, comments(body))
    linked = [link for link in page.links if link.href.startswith(_GROUNDS)]
    starts = [link.start for link in linked]
    for sentence in sentences:
        for place, figure in _in_piece(source, sentence.start, sentence.end):
            before = bisect_right(starts, place) - 1
            if before < 0 or place >= linked[before].end:
                yield sentence, place, figure


def _in_piece(source: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    if not any(map(str.isdigit, source[start:end])):
        return
    words = visible_text(source, [(start, end)])
    for match in _figures(words.shape):
        yield words.places[match.start()], " ".join(match[0].split())


def _figures(text: str) -> Iterator[re.Match[str]]:
    return (match for match in _FIGURE.finditer(text) if not _NOT_MEANT.fullmatch(match[0]))


def _in_meta(page: Page) -> Iterator[tuple[int, str]]:
    """Yield the figures in the title and description of a page's front matter, with their lines."""
    rows = page.text.splitlines()
    for key in _IN_META:
        for match in _figures(str(page.meta.get(key, ""))):
            yield next((i for i, row in enumerate(rows, 1) if re.match(rf'\s*"?{key}"?:', row)), 1), match[0]


def _in_attributes(page: Page) -> Iterator[tuple[int, str]]:
    """Yield the figures in alternative texts and link titles, with their lines."""
    for link in page.links:
        texts = [link.text if _is_image(page, link) else "", link.title or ""]
        yield from ((link.line, match[0]) for text in texts for match in _figures(unescape(text)))
    body = without_fences(page.markdown)
    for found in _ATTRIBUTE.finditer(masked(body, inline_code(body))):
        line = body.count("\n", 0, found.start()) + 1
        yield from ((line, match[0]) for match in _figures(unescape(found[1])))


def _is_image(page: Page, link: Link) -> bool:
    return page.markdown[max(0, link.start - 2) : link.start] == "!["

"""Find the messages that pages quote, so that the search can rank their sections first."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from headroom.pages.markdown_syntax import inline_code, without_fences
from headroom.pages.source import Page

_HEADING = re.compile(r"(?m)^#{1,6} .*\{ ?#(?P<anchor>[\w-]+) ?\}\s*$")
_MIN_WORDS: Final = 4
"""Shorter code is a name, a setting or a call and no message."""


def error_texts(pages: Iterable[Page]) -> dict[str, list[str]]:
    """Return the quoted messages of each section, by its source address.

    A message is a line of a fence of the language `text`, or inline code of several words.
    """
    found: dict[str, list[str]] = {}
    for page in pages:
        if page.notebook is None:
            starts = [(match.start(), match["anchor"]) for match in _HEADING.finditer(page.markdown)]
            for position, text in _quoted(page):
                anchor = next((anchor for start, anchor in reversed(starts) if start <= position), None)
                if anchor and sum(any(map(str.isalnum, word)) for word in text.split()) >= _MIN_WORDS:
                    found.setdefault(f"{page.path.removeprefix('docs/')}#{anchor}", []).append(text)
    return found


def _quoted(page: Page) -> Iterator[tuple[int, str]]:
    """Yield the texts with their positions in the page."""
    ends = [0, *(match.end() for match in re.finditer("\n", page.markdown))]
    for fence in page.fences:
        if fence.language == "text" and not fence.includes():
            for number, row in enumerate(fence.body, fence.line):
                yield ends[number], row
    prose = without_fences(page.markdown)
    for start, end in inline_code(prose):
        yield start, prose[start:end].strip("` ")

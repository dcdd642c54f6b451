"""Split a page into sentences, each with its kind, its position in the source and its note."""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from headroom.pages.blocks import Block, Kind, blocks
from headroom.pages.markdown_syntax import FRONT_MATTER, comments, masked, without_fences
from headroom.pages.visible_text import BREAK, visible_text

_NOTE = re.compile(r"<!--\s*no-claim:(?P<kind>[^>]*)-->")
_STOP = re.compile(rf"[.!?\u2026]+[\"'\u201d\u2019)\]]*(?=\s|$)|{BREAK}")
_LETTER = re.compile(r"[^\W_]")
_LAST_WORD = re.compile(r"[\w.&-]*$")
_NEVER_LAST = re.compile(
    r"e\.?g|i\.?e|vs|cf|figs?|eqs?|sec|approx|ca|resp|w\.r\.t|a\.k\.a|[dm]r|mrs|prof", re.IGNORECASE
)
_SELDOM_LAST = re.compile(r"etc|al|incl|excl|max|min|avg|nos?|est|vol|ver|v|ed|\d+", re.IGNORECASE)
_LONGEST_WORD = 40


@dataclass(frozen=True, slots=True)
class Note:
    """A comment ``<!-- no-claim: KIND -->``: the reason why the sentence before it needs no claim."""

    line: int
    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or the whole text of a heading, title, item or cell.

    ``text`` is the text that a reader sees; ``start`` and ``end`` are its span in the source, first word to last.
    """

    line: int
    text: str
    start: int
    end: int
    kind: Kind
    shape: str = ""
    """The text with an x in place of each character of code, so that names in code are not read as words."""
    hrefs: tuple[str, ...] = ()
    """The targets of its links."""
    remark: Note | None = None
    """The note after it in its paragraph or cell, or on the line below a heading or a title."""

    @property
    def note(self) -> str | None:
        """The kind of its note."""
        return self.remark.kind if self.remark else None


def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a Markdown text in order, without code, comments and math."""
    body, words = _without_code(text)
    lines = [match.start() for match in re.finditer(r"\n", text)]
    found = [sentence for block in blocks(body, words) for sentence in _of_block(words, block, lines)]
    return tuple(_with_notes(found, body, notes(text)))


def notes(text: str) -> tuple[Note, ...]:
    """Return every note of a Markdown text, in order."""
    body, _ = _without_code(text)
    found = []
    line, counted = 1, 0
    for start, end in comments(body):
        if match := _NOTE.fullmatch(body, start, end):
            line, counted = line + body.count("\n", counted, start), start
            found.append(Note(line, match["kind"].strip(), start, end))
    return tuple(found)


@lru_cache(maxsize=2)  # a page's sentences and notes both need it
def _without_code(text: str) -> tuple[str, str]:
    """Return the text without front matter and fences, and also without comments; both keep its length."""
    front = FRONT_MATTER.match(text)
    body = masked(text, [front.span()] if front else [])
    body = without_fences(body)
    return body, masked(body, comments(body))


def _of_block(words: str, block: Block, lines: list[int]) -> Iterator[Sentence]:
    seen = visible_text(words, block.pieces)
    links = deque(seen.links)
    for start, end in _split(seen.shape):
        part = seen.text[start:end]
        if not _LETTER.search(part):
            continue
        first = seen.places[end - len(part.lstrip())]
        last = seen.places[start + len(part.rstrip()) - 1] + 1
        hrefs = []
        while links and links[0].start < last:
            if links[0].end > first:
                hrefs.append(links[0].href)
            if links[0].end > last:  # it continues in the next sentence
                break
            links.popleft()
        text, shape = (" ".join(each[start:end].split()) for each in (seen.text, seen.shape))
        yield Sentence(bisect_right(lines, first - 1) + 1, text, first, last, block.kind, shape, tuple(hrefs))


def _split(shape: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sentences of a block."""
    start = 0
    for match in _STOP.finditer(shape):
        if match[0] == BREAK or _ends(shape, match):
            yield start, match.end()
            start = match.end()
    yield start, len(shape)


def _ends(shape: str, stop: re.Match[str]) -> bool:
    """Return whether a stop ends a sentence: not after an abbreviation, nor before lower case after some others."""
    word = _LAST_WORD.search(shape[max(0, stop.start() - _LONGEST_WORD) : stop.start()])
    last = word[0] if word else ""
    following = shape[stop.end() : stop.end() + _LONGEST_WORD].lstrip(" \n\t\"'(*\u201c\u2018")
    continues = following[:1].islower() or following[:1].isdigit()
    if stop[0] != ".":
        return not (continues and stop[0].startswith(("..", "\u2026", "!", "?")))
    return not _NEVER_LAST.fullmatch(last) and not (continues and _SELDOM_LAST.fullmatch(last))


def _with_notes(found: list[Sentence], body: str, remarks: tuple[Note, ...]) -> Iterator[Sentence]:
    """Yield the sentences, each with the first note after it in the same block or cell."""
    waiting = list(reversed(remarks))
    for i, sentence in enumerate(found):
        following = found[i + 1].start if i + 1 < len(found) else len(body) + 1
        while waiting and waiting[-1].start < sentence.start:
            waiting.pop()
        if waiting and waiting[-1].start < following:
            gap = body[sentence.end : waiting[-1].start]
            apart = re.search(r"\n[ \t>]*\n", gap) or (sentence.kind in ("header", "cell") and re.search(r"[|\n]", gap))
            yield sentence if apart else replace(sentence, remark=waiting[-1])
        else:
            yield sentence

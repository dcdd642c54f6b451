"""The words of a block as a reader sees them, each character with its place in the source."""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress

from headroom.prose.markup import CALC_ADDRESS, inline_code, masked

BREAK = "\f"
"""Stands where HTML ends a line or a block, and so a sentence."""

_DROPPED = re.compile(
    r"</?(?P<tag>[A-Za-z][\w.-]*)(?:\s[^<>=]*=[^<>]*|\s+[\w-]+\s*/?|\s*/?)>"
    r"|<(?:https?:|mailto:)[^<>\s]*>"
    r"|\{[:.#][^{}\n]*\}"  # attributes of an element
    r"|\{[a-z][\w:-]*\}(?=x)"  # the role of a piece of code
    r"|\[\[[^\[\]\n]*\]\]"  # the anchor of a heading
    r"|\$\$[^$]*\$\$"
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?<![\w*])\*+(?=[^\s*])|(?<=[^\s*])\*+(?![\w*])|(?<=\w)\*{2,}(?=\w)"
    r"|(?<!\w)_+(?=[^\s_])|(?<=[^\s_])_+(?!\w)|~~|(?<!=)==(?!=)"
)
_MARKUP = re.compile(r"[`*_~=\\<&{$\[\]]")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
_TARGET = re.compile(
    rf"\(\s*(?:(?P<formula>{CALC_ADDRESS})|<?(?P<href>[^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?)"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)|\[[^\[\]]*\]"
)
_BRACKET = re.compile(r"[\[\]]")
_LINE_ENDING_TAGS = re.compile(r"br|hr|p|div|li|[uod]l|t[dhr]|table|summary|details|h[1-6]|d[dt]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Link:
    """A link: where it points, and where it stands, with its brackets and its target."""

    href: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Words:
    """What a reader sees: ``places`` says where in the source each character of ``text`` stands.

    ``shape`` is the text with an x in place of each character of code, and ``BREAK`` where HTML ends a line.
    """

    text: str
    shape: str
    places: tuple[int, ...]
    links: tuple[Link, ...]


def readable(source: str, pieces: Iterable[tuple[int, int]]) -> Words:
    """The words of a block of a page.

    Args:
        source: the page's text, without comments.
        pieces: where the lines of the block stand in it.
    """
    pieces = tuple(pieces)
    places: list[int] = []
    raw = "\n".join(source[start:end] for start, end in pieces)
    for start, end in pieces:
        places += range(start, end + 1)  # the last is that of the line's end
    if not _MARKUP.search(raw):
        return Words(raw, raw, tuple(places), ())
    code = list(inline_code(raw))
    shape = masked(raw, code, "x")
    dropped = list(_DROPPED.finditer(shape))
    gone = [(m.start(), m.start() + 1) if m["escape"] else m.span() for m in dropped]
    instead = {m.start(): BREAK for m in dropped if _LINE_ENDING_TAGS.fullmatch(m["tag"] or "")}
    for match in _ENTITY.finditer(shape):
        if len(char := html.unescape(match[0])) == 1:
            gone.append(match.span())
            instead[match.start()] = char
    links, brackets = _brackets(shape)
    keep = bytearray(b"\1") * len(raw)
    for start, end in [*gone, *brackets, *_marks(raw, code)]:
        keep[start:end] = bytes(end - start)
    for i in instead:
        keep[i] = 1
    kept = tuple(compress(places, keep))
    found = tuple(Link(link.href, places[link.start], places[link.end - 1] + 1) for link in links)
    text, shape = (_replaced(each, keep, instead) for each in (raw, shape))
    return Words(text, shape, kept, found)


def _replaced(text: str, keep: bytearray, instead: dict[int, str]) -> str:
    """What is kept of a text, some of its characters replaced."""
    if not instead:
        return "".join(compress(text, keep))
    return "".join(instead.get(i, text[i]) for i in range(len(text)) if keep[i])


def _marks(raw: str, code: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The backticks around code, and square brackets around them, which Hugging Face makes links of."""
    for start, end in code:
        width = len(raw[start:end]) - len(raw[start:end].lstrip("`"))
        bracketed = raw[start - 1 : start] == "[" and raw[end : end + 1] == "]"
        tilde = raw[start + width : start + width + 1] == "~"
        yield start - bracketed, start + width + tilde
        yield end - width, end + bracketed


def _brackets(shape: str) -> tuple[list[Link], list[tuple[int, int]]]:
    """Every link, and what a reader does not see of links, images and marks of footnotes."""
    links, gone, opened = [], [], []
    for match in _BRACKET.finditer(shape):
        at = match.start()
        if match[0] == "[":
            opened.append(at)
            continue
        start = opened.pop() if opened else -1
        target = _TARGET.match(shape, at + 1)
        if start < 0:
            continue
        if shape.startswith("[^", start):
            gone.append((start, at + 1))
        elif target and start and shape[start - 1] == "!":
            gone.append((start - 1, target.end()))
        elif target:
            href = (target["formula"] or target["href"] or "").strip("<>")
            links.append(Link(href, start, target.end()))
            gone += [(start, start + 1), (at, target.end())]
    return links, gone

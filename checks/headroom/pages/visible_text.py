"""Strip Markdown markup from a block: the text that a reader sees, each character with its source position."""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress

from headroom.pages.markdown_syntax import CALC_ADDRESS, inline_code, masked

BREAK = "\f"
"""The character in place of HTML that ends a line or a block, and so a sentence."""

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
class VisibleLink:
    """A link with its target, and its span in the source including brackets and target."""

    href: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class VisibleText:
    """The text that a reader sees; ``places`` holds the source position of each of its characters.

    ``shape`` is the text with an x in place of each character of code, and ``BREAK`` where HTML ends a line.
    """

    text: str
    shape: str
    places: tuple[int, ...]
    links: tuple[VisibleLink, ...]


def visible_text(source: str, pieces: Iterable[tuple[int, int]]) -> VisibleText:
    """Return the visible text of a block.

    Args:
        source: the page's text, without comments.
        pieces: the spans of the block's lines.
    """
    pieces = tuple(pieces)
    places: list[int] = []
    raw = "\n".join(source[start:end] for start, end in pieces)
    for start, end in pieces:
        places += range(start, end + 1)  # including the end of the line
    if not _MARKUP.search(raw):
        return VisibleText(raw, raw, tuple(places), ())
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
    found = tuple(VisibleLink(link.href, places[link.start], places[link.end - 1] + 1) for link in links)
    text, shape = (_replaced(each, keep, instead) for each in (raw, shape))
    return VisibleText(text, shape, kept, found)


def _replaced(text: str, keep: bytearray, instead: dict[int, str]) -> str:
    """Return the kept characters of a text, some of them replaced."""
    if not instead:
        return "".join(compress(text, keep))
    return "".join(instead.get(i, text[i]) for i in range(len(text)) if keep[i])


def _marks(raw: str, code: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans of backticks around code, with square brackets, which Hugging Face turns into links."""
    for start, end in code:
        width = len(raw[start:end]) - len(raw[start:end].lstrip("`"))
        bracketed = raw[start - 1 : start] == "[" and raw[end : end + 1] == "]"
        tilde = raw[start + width : start + width + 1] == "~"
        yield start - bracketed, start + width + tilde
        yield end - width, end + bracketed


def _brackets(shape: str) -> tuple[list[VisibleLink], list[tuple[int, int]]]:
    """Return the links, and the invisible spans of links, images and footnote marks."""
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
            links.append(VisibleLink(href, start, target.end()))
            gone += [(start, start + 1), (at, target.end())]
    return links, gone

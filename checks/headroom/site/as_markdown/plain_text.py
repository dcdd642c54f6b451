"""Remove comments, HTML elements, attribute lists and entities from Markdown, but never from code."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from html import unescape

from headroom.io.markdown_escape import text as escaped
from headroom.pages.markdown_syntax import comments, fenced, inline_code, masked, without_fences
from headroom.pages.source import language

_UNPROVEN = re.compile(r"<!--\s*no-claim:\s*unproven\s*-->")
_WHOLE = re.compile(r"<(?P<tag>figure|svg|script|style|form)\b(?P<inside>.*?)</(?P=tag)>", re.DOTALL)
_DESCRIPTIONS = tuple(re.compile(rf"<{name}\b[^>]*>(?P<words>[^<]*)<") for name in ("title", "desc", "figcaption"))
"""The first of each describes the whole drawing; later ones describe its points."""
_ELEMENT = re.compile(
    r"<span class=\"badge[^\"]*\">(?P<badge>[^<]*)</span>"
    r"|<a [^<>]*?href=\"(?P<href>[^\"<>]*)\"[^<>]*>(?P<label>[^<]*)</a>"
    r"|<(?P<break>br) ?/?>"
    r"|(?P<tag></?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>)"
)
_APART = re.compile(r"(?:^|[ |\n]|<br ?/?>)(?:<[a-z][^<>]*>)*$")
"""A line's or cell's start, after which small text needs no separator."""
_NEAR = 200
_ATTRIBUTES = re.compile(r"^(?P<inside>(?:#{1,6} .*)?)[ \t]*\{[ :.#][^{}\n]*\}[ \t]*$", re.MULTILINE)
_ENTITY = re.compile(r"(?P<inside>&#(?P<code>\d{1,7});)")
_KEPT = {"<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;"}
_ACTIVE = frozenset("\\`*_{}[]#|~!")
"""Characters that Markdown may read as markup anywhere."""
_START = re.compile(r"[ \t>]*(?:[-*+][ \t]+)*(?P<number>\d*)$")
"""What may precede a character that is markup only at the start of a list or a numbered item."""
Replace = Callable[[re.Match[str], str], str]


def outside_code(text: str, pattern: re.Pattern[str], inner: str, replace: Replace) -> str:
    """Replace each match that begins outside of code.

    Args:
        text: Markdown.
        pattern: the pattern to find in the text with its code blanked out.
        inner: the group that `replace` gets with its code, or an empty text if it did not match.
        replace: returns the replacement for a match and that group.
    """
    parts, done = [], 0
    for match in pattern.finditer(_prose(text)):
        start, end = match.span(inner)
        parts += [text[done : match.start()], replace(match, text[start:end] if start >= 0 else "")]
        done = match.end()
    return "".join([*parts, text[done:]])


@lru_cache(maxsize=1)  # successive passes often get the same text
def _prose(text: str) -> str:
    """Return the text with blanks in place of code."""
    prose = without_fences(text)
    return masked(prose, inline_code(prose))


def without_comments(text: str) -> str:
    """Remove comments; a note that a sentence is unmeasured becomes the words "(not measured)"."""
    if "<!--" not in text:
        return text
    text = outside_code(text, re.compile(f"(?P<inside>{_UNPROVEN.pattern})"), "inside", lambda *_: "(not measured)")
    prose = without_fences(text)
    parts, done = [], 0
    for start, end in comments(prose):
        parts.append(text[done:start].rstrip(" "))
        done = end
    return "".join([*parts, text[done:]])


def plain(text: str) -> str:
    """Remove HTML elements, heading attributes, code highlighting options and needless entities."""
    text = outside_code(text, _WHOLE, "inside", _whole)
    text = outside_code(text, _ELEMENT, "label", _element)
    text = outside_code(text, _ATTRIBUTES, "inside", lambda _, inside: inside.rstrip())
    text = outside_code(text, _ENTITY, "inside", lambda match, _: _character(match))
    return "\n".join(_fences(text.split("\n")))


def _whole(match: re.Match[str], inside: str) -> str:
    """Return a drawing's description as text; drop scripts, styles and forms."""
    if match["tag"] in ("script", "style", "form"):
        return ""
    found = filter(None, (pattern.search(inside) for pattern in _DESCRIPTIONS))
    words = (unescape(each["words"]).strip().removesuffix(".") for each in found)
    description = ". ".join(part for part in words if part)
    return f"Figure: {escaped(description)}." if description else ""


def _element(match: re.Match[str], label: str) -> str:
    """Convert badges and links to Markdown; drop other tags, keeping a separator between two texts."""
    if match["badge"] is not None:
        return f"**{match['badge']}**"
    if match["href"] is not None:
        return f"[{label}](<{_address(match['href'])}>)"
    glued = match["tag"] == "<small>" and not _APART.search(match.string[max(0, match.start() - _NEAR) : match.start()])
    return "; " if match["break"] or glued else ""


def _address(href: str) -> str:
    return unescape(href).replace("<", "%3C").replace(">", "%3E").replace(" ", "%20").replace("|", "%7C")


def _character(match: re.Match[str]) -> str:
    """Return the character of an entity, escaped if Markdown could read it as markup."""
    char = chr(int(match["code"]))
    if char in _KEPT:
        return _KEPT[char]
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    if char == "_" and before.isalnum() and after.isalnum():
        return char
    start = _START.match(line)
    begins = start and (char in "-+=" if not start["number"] else char in ".)" and not after.strip())
    return f"\\{char}" if char in _ACTIVE or begins else char


def _fences(rows: list[str]) -> Iterator[str]:
    """Yield the rows; a fence keeps only its language."""
    opening = {fence.first: fence.info for fence in fenced(rows)}
    for number, row in enumerate(rows):
        info = opening.get(number)
        yield row[: row.index(info)].rstrip() + language(info) if info else row

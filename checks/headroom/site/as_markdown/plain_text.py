"""Markdown without notes, elements, attributes and entities. Code is never touched."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from html import unescape

from headroom.io.markdown_escape import text as escaped
from headroom.pages.markdown_syntax import comments, fenced, inline_code, masked, without_fences
from headroom.pages.source import language

_UNPROVEN = re.compile(r"<!--\s*no-claim:\s*unproven\s*-->")
_WHOLE = re.compile(r"<(?P<tag>figure|svg|script|style|form)\b(?P<inside>.*?)</(?P=tag)>", re.DOTALL)
_TOLD = tuple(re.compile(rf"<{name}\b[^>]*>(?P<words>[^<]*)<") for name in ("title", "desc", "figcaption"))
"""Where a drawing says what it shows: the first of each; those that follow are of its points."""
_ELEMENT = re.compile(
    r"<span class=\"badge[^\"]*\">(?P<badge>[^<]*)</span>"
    r"|<a [^<>]*?href=\"(?P<href>[^\"<>]*)\"[^<>]*>(?P<label>[^<]*)</a>"
    r"|<(?P<break>br) ?/?>"
    r"|(?P<tag></?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>)"
)
_APART = re.compile(r"(?:^|[ |\n]|<br ?/?>)(?:<[a-z][^<>]*>)*$")
"""Before small type that stands apart from what comes before it already."""
_NEAR = 200
_ATTRIBUTES = re.compile(r"^(?P<inside>(?:#{1,6} .*?)?)[ \t]*\{[ :.#][^{}\n]*\}[ \t]*$", re.MULTILINE)
_ENTITY = re.compile(r"(?P<inside>&#(?P<code>\d{1,7});)")
_KEPT = {"<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;"}
_ACTIVE = frozenset("\\`*_{}[]#|~!")
"""What Markdown may take for a mark anywhere."""
_START = re.compile(r"[ \t>]*(?:[-*+][ \t]+)*(?P<number>\d*)$")
"""What may stand before a mark that counts only where something begins: of a list, of an item with a number."""
Replace = Callable[[re.Match[str], str], str]


def outside_code(text: str, pattern: re.Pattern[str], inner: str, replace: Replace) -> str:
    """The text with each match that begins outside of code replaced.

    Args:
        text: Markdown.
        pattern: is matched against the text with blanks in place of code.
        inner: the group whose text, if it has one, is handed over as it stands, with the code that may be in it.
        replace: gives what takes the match's place, from the match and that text.
    """
    parts, done = [], 0
    for match in pattern.finditer(_prose(text)):
        start, end = match.span(inner)
        parts += [text[done : match.start()], replace(match, text[start:end] if start >= 0 else "")]
        done = match.end()
    return "".join([*parts, text[done:]])


@lru_cache(maxsize=1)  # what one pass leaves as it was, the next one looks through as well
def _prose(text: str) -> str:
    """The text with blanks in place of code."""
    prose = without_fences(text)
    return masked(prose, inline_code(prose))


def without_comments(text: str) -> str:
    """The text without comments; where one says that nobody has measured a sentence, words do."""
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
    """The text without elements, attributes of headings, what highlights code, and needless entities."""
    text = outside_code(text, _WHOLE, "inside", _whole)
    text = outside_code(text, _ELEMENT, "label", _element)
    text = outside_code(text, _ATTRIBUTES, "inside", lambda _, inside: inside)
    text = outside_code(text, _ENTITY, "inside", lambda match, _: _character(match))
    return "\n".join(_fences(text.split("\n")))


def _whole(match: re.Match[str], inside: str) -> str:
    """What is drawn, in the words that a drawing has for who cannot see it; nothing of what only a browser can use."""
    if match["tag"] in ("script", "style", "form"):
        return ""
    found = filter(None, (pattern.search(inside) for pattern in _TOLD))
    words = (unescape(each["words"]).strip().removesuffix(".") for each in found)
    told = ". ".join(part for part in words if part)
    return f"Figure: {escaped(told)}." if told else ""


def _element(match: re.Match[str], label: str) -> str:
    """A badge and a link of HTML as Markdown; of any other tag nothing, but what keeps two texts apart."""
    if match["badge"] is not None:
        return f"**{match['badge']}**"
    if match["href"] is not None:
        return f"[{label}](<{_address(match['href'])}>)"
    glued = match["tag"] == "<small>" and not _APART.search(match.string[max(0, match.start() - _NEAR) : match.start()])
    return "; " if match["break"] or glued else ""


def _address(href: str) -> str:
    return unescape(href).replace("<", "%3C").replace(">", "%3E").replace(" ", "%20").replace("|", "%7C")


def _character(match: re.Match[str]) -> str:
    """A character of a record's text: itself where it can only be that, and else in a form that does nothing."""
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
    """The rows, each fence with the name of its language and nothing else behind its marks."""
    opening = {fence.first: fence.info for fence in fenced(rows)}
    for number, row in enumerate(rows):
        info = opening.get(number)
        yield row[: row.index(info)].rstrip() + language(info) if info else row

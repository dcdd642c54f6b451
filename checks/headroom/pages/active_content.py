"""Find active content: HTML, attributes and addresses that could run a script or load from another host.

Only listed tags, attributes and schemes are allowed. Text is code only if every Markdown parser reads it as code.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from headroom.pages.markdown_syntax import fenced, inline_code, masked


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INLINE = _words("a abbr b br cite code del dfn em i img ins kbd mark q s small span strong sub sup u var wbr")
_MARKDOWN_BLOCKS = _words("details div figure")
"""Tags around blocks. They need the attribute `markdown`; otherwise their content is raw HTML."""
_TITLES = _words("figcaption summary")
_HTML = _words(
    "dd dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre table tbody td tfoot th thead tr ul"
    " circle clippath defs desc ellipse g line lineargradient marker path pattern polygon polyline radialgradient rect"
    " stop svg text title tspan"
)
"""Tags that only the output of a notebook may have."""
_ATTRIBUTES = _words(
    "align alt class colspan download height href hl_lines id lang linenums markdown open reversed role rowspan scope"
    " src start style tabindex title width"
    " clip-path cx cy d dominant-baseline dx dy fill fill-opacity fill-rule font-family font-size"
    " font-style font-weight fx fy gradienttransform gradientunits marker-end marker-start markerheight"
    " markerunits markerwidth offset opacity orient points preserveaspectratio r refx refy rx ry"
    " stop-color stop-opacity stroke stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity"
    " stroke-width text-anchor transform vector-effect version viewbox x x1 x2 xml:space xmlns y y1 y2"
)
_SCHEMES = frozenset(
    (
        "https",
        "http",
        "mailto",
        "claim",
        "fact",
        "calc",
        "estimate",
        "estimate-table",
        "install",
        "accelerators",
        "memory-errors",
        "plan",
        "memory",
        "methods",
        "picture",
        "start",
    )
)
_OWN = "use Markdown, or a tag that headroom.pages.active_content allows; put code between backticks"

_MARK = re.compile(r"<(?=[A-Za-z/?]|!(?!--))")
_VALUE = r"\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+"
_TAG = re.compile(rf"</?(?P<name>[A-Za-z][\w:-]*)(?P<rest>(?:\s+[^\s\"'<>/=]+(?:\s*=\s*(?:{_VALUE}))?)*)\s*/?>")
_ATTRIBUTE = re.compile(rf"(?P<name>[^\s\"'<>/={{}}]+)(?:\s*(?P<set>=)\s*(?P<value>{_VALUE})?)?")
_AUTOLINK = re.compile(r"<(?:https?://|mailto:)[^<>\s]*>|<[\w.+-]+@[\w.-]+>|<calc:[\w .,+*/()-]*>")
_LONGEST = 1000
"""The most characters that an address may have."""
_TO = rf"\(\s*<?(?=(?P<to>[^)]{{0,{_LONGEST}}}))"
_LINK = re.compile(rf"\]{_TO}")
_DEFINITION = re.compile(rf"\]:(?=\s*<?(?P<to>\S{{0,{_LONGEST}}}))")
_IMAGE = re.compile(rf"[^\[\]\\]*\]{_TO}")
_HARMLESS = re.compile(
    r"(?:[A-Za-z0-9_./#-]*|(?:claim|fact|calc|methods|start):[^\s&\\]*|https://[A-Za-z0-9.-]+(?:[/?#][^\s&\\]*)?)"
    r"(?:\s+\".*)?",
    re.DOTALL,
)
"""What nearly every link is, so that few have to be taken apart."""
_DRAWN = re.compile(r"picture:[a-z0-9-]+")
"""The address of a picture that the site draws."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PLAIN_INFO = re.compile(r"[\w#.+-]*(?:[ \t]+[a-zA-Z_]\w*=(?:\"[^\"<]*\"|'[^'<]*'))*|\{[^{}<]*\}")
_END_OF_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_DOUBTFUL = re.compile(r"``|\\`|<(?:summary|figcaption)\b", re.IGNORECASE)
_AS_MARKDOWN = re.compile(r"\smarkdown(?:=\"(?:1|block|span)\")?(?=\s|$)")
_ENDS = {
    name: re.compile(rf"[^\n<]{{0,2000}}(?:<[^\n<]{{0,200}}){{0,20}}?</{name}>", re.IGNORECASE) for name in _TITLES
}
_LOADING = re.compile(r"url\((?!#)|\\|@import")
_COVERING = re.compile(r"expression|position", re.IGNORECASE)


class Finding(NamedTuple):
    """One piece of active content."""

    position: int
    """Its first character in the text."""
    message: str
    remedy: str


def in_markdown(text: str) -> list[Finding]:
    """Return the active content of a Markdown text, in order."""
    body = _without_code(text)
    found = [*_tags(body, _markdown_tag), *_attribute_lists(body), *_addresses(body), *_images(body)]
    return sorted(found)


def in_html(text: str) -> list[Finding]:
    """Return the active content of HTML or SVG that a notebook has printed, in order."""
    return sorted(_tags(text, _html_tag))


def _without_code(text: str) -> str:
    """Return the text with blanks in place of code that every Markdown parser reads as code."""
    text = masked(text, _fences(text))
    return masked(text, _inline(text))


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of fenced code with unambiguous marks and indents, without the line of the opening mark."""
    rows = text.split("\n")
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) + 1)
    for fence in fenced(rows):
        mark = rows[fence.first]
        before = mark[: len(mark) - len(mark.lstrip(" \t>"))]
        inside = rows[fence.first + 1 : fence.last + 1]
        even = all(row.startswith(before) or not row.strip(" \t>") for row in inside)
        if fence.closed and even and _PLAIN_INFO.fullmatch(fence.info):
            yield starts[fence.first + 1], starts[fence.last + 1] - 1


def _inline(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of inline code on one line, between single backticks, in paragraphs without ambiguous markup."""
    begin, doubtful = -1, False
    for start, end in inline_code(text):
        if start >= begin:  # in another paragraph than the code before
            first, begin = text.rfind("\n\n", 0, start) + 1, _end_of_paragraph(text, start)
            doubtful = bool(_DOUBTFUL.search(text, first, begin))
        if not doubtful and "\n" not in text[start:end]:
            yield start, end


def _end_of_paragraph(text: str, position: int) -> int:
    match = _END_OF_PARAGRAPH.search(text, position)
    return match.end() if match else len(text) + 1


def _tags(text: str, fault: Callable[[re.Match[str]], str | None]) -> Iterator[Finding]:
    """Yield every tag that is not allowed."""
    for mark in _MARK.finditer(text):
        if _AUTOLINK.match(text, mark.start()):
            continue
        tag = _TAG.match(text, mark.start())
        if tag is None:
            yield Finding(
                mark.start(),
                f"`{text[mark.start() : mark.start() + 20].split(maxsplit=1)[0]}` begins HTML that cannot be parsed",
                _OWN,
            )
        elif wrong := fault(tag):
            yield Finding(mark.start(), wrong, _OWN)
        else:
            yield from _attributes(mark.start(), _ATTRIBUTE.finditer(tag["rest"]))


def _markdown_tag(tag: re.Match[str]) -> str | None:
    name, closing = tag["name"].lower(), tag[0].startswith("</")
    if name in _MARKDOWN_BLOCKS and not closing and not _AS_MARKDOWN.search(tag["rest"]):
        return f"the tag `<{name}>` has no attribute `markdown`"
    if name in _TITLES and not closing and not _ENDS[name].match(tag.string, tag.end()):
        return f"the tag `<{name}>` is not closed on its line"
    known = _INLINE | _MARKDOWN_BLOCKS | _TITLES
    return None if name in known else f"the tag `<{name}>` is not allowed"


def _html_tag(tag: re.Match[str]) -> str | None:
    name = tag["name"].lower()
    return None if name in _INLINE | _MARKDOWN_BLOCKS | _TITLES | _HTML else f"the tag `<{name}>` is not allowed"


def _attributes(position: int, found: Iterable[re.Match[str]]) -> Iterator[Finding]:
    """Yield every attribute that is not allowed, or whose value is not."""
    for match in found:
        name, value = match["name"].lower().lstrip(":"), html.unescape((match["value"] or "").strip("\"'"))
        if name not in _ATTRIBUTES and not name.startswith("aria-"):
            yield Finding(position, f"the attribute `{name}` is not allowed", "remove it")
        elif name == "src":
            yield from _resource(position, value)
        elif name == "href":
            yield from _address(position, value)
        elif name not in ("alt", "title", "aria-label") and _loads(name, value):
            yield Finding(position, f"the attribute `{name}` loads a file or covers the page", "remove it")


def _loads(name: str, value: str) -> bool:
    """Return whether the value of an attribute can load a file or cover the page."""
    return bool(_LOADING.search(value) or (name == "style" and _COVERING.search(value)))


def _attribute_lists(text: str) -> Iterator[Finding]:
    """Yield every attribute in braces that is not allowed, including those after the mark of a fence."""
    for start, end in _braces(text):
        found = _ATTRIBUTE.finditer(text, start + 1, end)
        yield from _attributes(start, (match for match in found if match["set"]))


def _braces(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of opening and closing braces on one line."""
    start = text.find("{")
    while start >= 0:
        found = text.find("\n", start)
        row_end = len(text) if found < 0 else found
        end = text.find("}", start, row_end)
        if end >= 0:
            yield start, end
        start = text.find("{", (row_end if end < 0 else end) + 1)


def _addresses(text: str) -> Iterator[Finding]:
    """Yield every link or link definition whose scheme is not allowed."""
    for pattern in (_LINK, _DEFINITION):
        for match in pattern.finditer(text):
            if not _HARMLESS.fullmatch(match["to"]):
                yield from _address(match.start(), match["to"])


def _address(position: int, target: str) -> Iterator[Finding]:
    plain = _as_browsers_read(target)
    scheme = _SCHEME.match(plain)
    if scheme and scheme[1].lower() not in _SCHEMES:
        yield Finding(
            position, f"links to `{scheme[1]}:` are not allowed", f"use one of: {', '.join(sorted(_SCHEMES))}"
        )
    elif re.match(r"(?:https?:)?//[^/?#]*@", plain, re.IGNORECASE):
        yield Finding(position, "the link has a user name before its host", "write only the host")
    elif len(target) >= _LONGEST and not scheme:
        yield Finding(position, f"the link has more than {_LONGEST} characters", "shorten it")


def _as_browsers_read(address: str) -> str:
    """Return an address as a browser reads it, without escapes and blanks."""
    return re.sub(r"[\x00-\x20\\]", "", html.unescape(html.unescape(address)))


def _images(text: str) -> Iterator[Finding]:
    """Yield every image that is not a file of the site, or whose address cannot be parsed."""
    start = text.find("![")
    while start >= 0:
        match = _IMAGE.match(text, start + 2)
        if match and not _DRAWN.fullmatch(match["to"]):
            yield from _resource(start, match["to"])
        elif not match and not text.startswith("![^", start):
            yield Finding(start, "the image cannot be parsed", "write `![what it shows](path)`, without other brackets")
        start = text.find("![", start + 2)


def _resource(position: int, source: str) -> Iterator[Finding]:
    plain = _as_browsers_read(source)
    if _SCHEME.match(plain) or plain.startswith("//") or "\\" in source or len(source) >= _LONGEST:
        yield Finding(position, f"`{plain[:60]}` is loaded from another host", "keep the file below docs/assets/")

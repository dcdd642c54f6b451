"""Pages as their authors wrote them, Markdown files and notebooks: front matter, links and fences, each with its line.

The site renders pages with Python-Markdown, which keeps no lines. So links are found here in the source, with code and
comments blanked out, and a test holds both to find the same links on every page.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from headroom.files import UnreadableError, read_text
from headroom.parsing import load_yaml
from headroom.prose.markup import FRONT_MATTER, blank, comments, fenced, masked, without_fences
from headroom.records import notebooks
from headroom.records.problems import Problem, relative, unreadable

_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)  # within one paragraph
_LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<href>[^()\s]+)(?:\s+\"(?P<title>[^\"]*)\")?\)")
_ANCHOR = re.compile(r"\{[^{}\n]*#(?P<id>[\w-]+)[^{}\n]*\}")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*(?:\{[^{}\n]*\})?[ \t]*$", re.MULTILINE)
_CLASS = re.compile(r"[{\s]\.(?P<word>[A-Za-z0-9_+-]+)")
_STRAY = re.compile(r"\b(?:claim|fact):[a-z0-9]")
_INCLUDE = re.compile(r"^--8<-- \"(?P<path>[^\":]+)(?::(?P<region>[A-Za-z0-9_-]+))?\"$")


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page; ``start`` and ``end`` are where its text stands in the page's source."""

    line: int
    text: str
    href: str
    title: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Include:
    """A file, or a named region of it, that a fence shows."""

    line: int
    path: str
    region: str | None


@dataclass(frozen=True, slots=True)
class Fence:
    """One fenced code block."""

    line: int
    language: str
    info: str
    body: tuple[str, ...]
    closed: bool
    reason: str | None
    """Why its code is not run, from a comment ``<!-- not-run: … -->`` on the line above it."""

    def includes(self) -> list[Include]:
        """The files that it shows."""
        matches = ((self.line + i, _INCLUDE.match(row.strip())) for i, row in enumerate(self.body, 1))
        return [Include(line, match["path"], match["region"]) for line, match in matches if match]


@dataclass(frozen=True, slots=True)
class Page:
    """One Markdown file or notebook below docs/."""

    path: str
    text: str
    meta: dict[str, Any] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    fences: tuple[Fence, ...] = ()
    stray: tuple[int, ...] = ()
    """Lines with a claim or fact linked in a form that is not looked at: a reference, an autolink, HTML."""
    prose: str = ""
    """Its Markdown: the text, or of a notebook its Markdown cells on the lines of the file."""

    @property
    def hardware(self) -> tuple[str, ...]:
        """The hardware classes that the page is about."""
        value = self.meta.get("hardware") or []
        return tuple(value) if isinstance(value, list) else (str(value),)

    @property
    def anchors(self) -> frozenset[str]:
        """What a link to a place on the page can name: ids that are written out, and those made of headings."""
        made = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in _HEADING.findall(self.text))
        return frozenset([*_ANCHOR.findall(self.text), *(re.sub(r"[-\s]+", "-", title) for title in made)])


def load_pages(root: Path) -> tuple[list[Page], list[Problem]]:
    """Every page of a tree, and the problems of those that cannot be read."""
    pages: list[Page] = []
    problems: list[Problem] = []
    for path in sorted(found for found in (root / "docs").rglob("*") if found.suffix in _PARSERS):
        name = relative(path, root)
        if "/." in name:  # what Jupyter keeps beside a notebook, say; the site shows none of it
            continue
        try:
            pages.append(_PARSERS[path.suffix](name, read_text(path, root)))
        except UnreadableError as error:
            problems.append(unreadable(name, "pages", error))
    return pages, problems


def parse(path: str, text: str) -> Page:
    """A page from its source.

    Raises:
        UnreadableError: its front matter is no YAML mapping.
    """
    meta: Any = {}
    if match := FRONT_MATTER.match(text):
        meta = load_yaml("\n" + match["yaml"]).value  # a line more, so that errors name the page's lines
        if not isinstance(meta, dict):
            raise UnreadableError("the front matter is no mapping", "write `key: value` lines", 1)
    fences = tuple(_fences(text))
    blanked = _blanked(text)
    rest = _LINK.sub(lambda match: blank(match[0]), blanked)
    stray = tuple(text.count("\n", 0, match.start()) + 1 for match in _STRAY.finditer(rest))
    return Page(path, text, meta, tuple(_links(text, blanked)), fences, stray, text)


def parse_notebook(path: str, text: str) -> Page:
    """A page from the JSON of a notebook: its Markdown cells are its text, at their places in the file.

    Raises:
        UnreadableError: it is no notebook that can be read.
    """
    notebook = notebooks.parse(text)
    page = parse(path, notebook.markdown())
    links = (replace(link, start=notebook.place(link.start), end=notebook.place(link.end)) for link in page.links)
    return replace(page, text=text, meta=notebook.meta, links=tuple(links))


_PARSERS = {".md": parse, ".ipynb": parse_notebook}


def _fences(text: str) -> Iterator[Fence]:
    rows = text.removesuffix("\n").split("\n")
    for found in fenced(rows):
        before = rows[found.first - 1] if found.first else ""
        reason = re.search(r"<!-- not-run: (.+?) -->", before)
        yield Fence(
            line=found.first + 1,
            language=_language(found.info),
            info=found.info,
            body=tuple(rows[found.first + 1 : found.last]),
            closed=found.closed,
            reason=reason[1] if reason else None,
        )


def _language(info: str) -> str:
    """The language of a fence, however it is written: ``python``, ``{.python …}`` or ``py title="…"``."""
    word = _CLASS.search(info) if info.startswith("{") else None
    word = word or re.match(r"\{?\s*\.?(?P<word>[A-Za-z0-9_+-]*)", info)
    return word["word"].lower() if word else ""


def _blanked(text: str) -> str:
    """The text with code and comments replaced by blanks, every other character in its place."""
    prose = without_fences(text)
    prose = masked(prose, comments(prose))
    return _INLINE_CODE.sub(lambda match: blank(match[0]), prose)


def _links(text: str, blanked: str) -> Iterator[Link]:
    for match in _LINK.finditer(blanked):
        start, end = match.span("text")
        line = text.count("\n", 0, match.start()) + 1
        yield Link(line, text[start:end], match["href"], match["title"], start, end)

"""Pages as their authors wrote them, Markdown files and notebooks: front matter, links and fences, each with its line.

The site renders pages with Python-Markdown, which keeps no lines. So links are found here in the source, with code and
comments blanked out, and a test holds both to find the same links on every page.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from headroom.files import UnreadableError, read_text
from headroom.parsing import load_yaml
from headroom.records import notebooks
from headroom.records.problems import Problem, relative, unreadable

_FRONT_MATTER = re.compile(r"\A---\n(?P<yaml>.*?\n)---\n", re.DOTALL)
_FENCE = re.compile(r"^[ \t>]*(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)  # within one paragraph
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
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
    if match := _FRONT_MATTER.match(text):
        meta = load_yaml("\n" + match["yaml"]).value  # a line more, so that errors name the page's lines
        if not isinstance(meta, dict):
            raise UnreadableError("the front matter is no mapping", "write `key: value` lines", 1)
    fences = tuple(_fences(text))
    blanked = _blanked(text, fences)
    rest = _LINK.sub(lambda match: _blank(match[0]), blanked)
    ends = [match.start() for match in re.finditer("\n", text)]
    stray = tuple(bisect_left(ends, match.start()) + 1 for match in _STRAY.finditer(rest))
    return Page(path, text, meta, tuple(_links(text, blanked, ends)), fences, stray)


def parse_notebook(path: str, text: str) -> Page:
    """A page from the JSON of a notebook: its Markdown cells are its text, at their places in the file.

    Raises:
        UnreadableError: it is no notebook that can be read.
    """
    notebook = notebooks.parse(text)
    markdown = notebook.markdown()
    page = parse(path, markdown)
    at = partial(notebook.place, markdown)
    links = tuple(replace(link, start=at(link.start), end=at(link.end)) for link in page.links)
    return replace(page, text=text, meta=notebook.meta, links=links)


_PARSERS = {".md": parse, ".ipynb": parse_notebook}


def _fences(text: str) -> Iterator[Fence]:
    rows = text.splitlines()
    number = 0
    while number < len(rows):
        opened = _FENCE.match(rows[number])
        if opened is None:
            number += 1
            continue
        end = next((i for i in range(number + 1, len(rows)) if _closes(rows[i], opened)), len(rows))
        info = opened["info"].strip()
        before = rows[number - 1] if number else ""
        reason = re.search(r"<!-- not-run: (.+?) -->", before)
        yield Fence(
            line=number + 1,
            language=_language(info),
            info=info,
            body=tuple(rows[number + 1 : end]),
            closed=end < len(rows),
            reason=reason[1] if reason else None,
        )
        number = end + 1


def _closes(row: str, opened: re.Match[str]) -> bool:
    row = row.strip(" \t>")
    return len(row) >= len(opened["mark"]) and not row.strip(opened["mark"][0])


def _language(info: str) -> str:
    """The language of a fence, however it is written: ``python``, ``{.python …}`` or ``py title="…"``."""
    word = _CLASS.search(info) if info.startswith("{") else None
    word = word or re.match(r"\{?\s*\.?(?P<word>[A-Za-z0-9_+-]*)", info)
    return word["word"].lower() if word else ""


def _blanked(text: str, fences: tuple[Fence, ...]) -> str:
    """The text with code and comments replaced by blanks, every other character in its place."""
    rows = text.splitlines(keepends=True)
    for fence in fences:
        for i in range(fence.line - 1, min(fence.line + len(fence.body) + 1, len(rows))):
            rows[i] = _blank(rows[i])
    joined = "".join(rows)
    for pattern in (_COMMENT, _INLINE_CODE):
        joined = pattern.sub(lambda match: _blank(match[0]), joined)
    return joined


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _links(text: str, blanked: str, ends: list[int]) -> Iterator[Link]:
    for match in _LINK.finditer(blanked):
        start, end = match.span("text")
        line = bisect_left(ends, match.start()) + 1
        yield Link(line, text[start:end], match["href"], match["title"], start, end)

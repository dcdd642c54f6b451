"""Pages as their authors wrote them, Markdown files and notebooks: front matter, links and fences, each with its line.

The site renders pages with Python-Markdown, which keeps no lines. So links are found here in the source, with code and
comments blanked out, and a test holds both to find the same links on every page.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from headroom.io.safe_read import HIDDEN, UnreadableError, below, placed, read_text
from headroom.io.strict_load import load_yaml, texts
from headroom.io.todo_markers import REMEDY, gaps
from headroom.pages.markdown_syntax import (
    CALC_ADDRESS,
    FRONT_MATTER,
    blank,
    comments,
    fenced,
    inline_code,
    masked,
    without_fences,
)
from headroom.records import notebooks
from headroom.records.notebooks import Notebook
from headroom.records.old_addresses import old_addresses_by_place
from headroom.records.problems import Problem, relative, unreadable
from headroom.records.start_choices import Answers, answers_of

TYPES = ("start", "guide", "concept", "how-to", "reference")
"""What a page is for: to lead on, to solve a reader's problem, to explain, to guide a contributor, to be looked up."""
_KEYS = {"title", "description", "type", "hardware", "answers", "was"}
_METADATA = re.compile(r"\A(?:---[ \t]*\n| {0,3}[A-Za-z0-9_-]+:)")  # MkDocs takes the second for front matter as well
_REASON = re.compile(r"[ \t>]*<!-- not-run: (.+?) -->")
LINK = re.compile(
    r"\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]"
    rf"\((?P<href>{CALC_ADDRESS}|[^()\s]+)(?:\s+\"(?P<title>[^\"]*)\")?\)"
)
_ATTRIBUTES = re.compile(r"\{([^{}\n]*)\}")
_ID = re.compile(r"#([\w-]+)")
_NAMED = re.compile(r"\{[^{}]*#[\w-]+[^{}]*\}\s*$")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)
_CLASS = re.compile(r"[{\s]\.(?P<word>[A-Za-z0-9_+-]+)")
_STRAY = re.compile(r"\b(?:(?:claim|fact):[a-z0-9]|calc:[A-Za-z0-9(.])")
_INCLUDE = re.compile(r"^--8<-- \"(?P<path>[^\":]+)(?::(?P<region>[A-Za-z0-9_-]+))?\"$")


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page; ``start`` and ``end`` are where its text stands in the page's Markdown."""

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
    """What its file holds."""
    markdown: str = ""
    """What it says: the same, or the Markdown cells of a notebook, each line where the file has it."""
    meta: dict[str, Any] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    fences: tuple[Fence, ...] = ()
    stray: tuple[int, ...] = ()
    """Lines with a claim, fact or formula linked in a form that is not looked at: a reference, an autolink, HTML."""
    notebook: Notebook | None = None

    @property
    def hardware(self) -> tuple[str, ...]:
        """The hardware classes that the page is about."""
        value = self.meta.get("hardware") or []
        return tuple(value) if isinstance(value, list) else (str(value),)

    @property
    def was(self) -> dict[str, tuple[str, ...]]:
        """The old addresses that lead to each of its places; the place of the page itself is `top`."""
        return {place: tuple(olds) for place, olds in old_addresses_by_place(self.meta.get("was") or {}).items()}

    @property
    def for_readers(self) -> bool:
        """Whether it is written for readers: every page except those for contributors, below docs/contribute/."""
        return not self.path.startswith("docs/contribute/")

    @property
    def answers(self) -> Answers | None:
        """Which choices of the start page lead to the page."""
        return answers_of(self.meta["answers"]) if "answers" in self.meta else None

    def place(self, position: int) -> int:
        """Where a character of the Markdown stands in the file."""
        return self.notebook.place(self.markdown, position) if self.notebook else position

    @property
    def anchors(self) -> frozenset[str]:
        """What a link to a place on the page can name: ids that are written out, and those made of headings."""
        return _anchors(self.markdown)


@lru_cache(maxsize=1024)  # several rules ask for them, page by page
def _anchors(markdown: str) -> frozenset[str]:
    prose = without_fences(markdown)
    written = (found[-1] for inside in _ATTRIBUTES.findall(prose) if (found := _ID.findall(inside)))
    titles = (_untagged(row) for row in _HEADING.findall(prose) if not _NAMED.search(row))
    made = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles)
    return frozenset([*written, *(re.sub(r"[-\s]+", "-", title) for title in made)])


def _untagged(heading: str) -> str:
    """A heading without the attributes in braces at its end."""
    title, _, last = heading.rstrip().rpartition("{")
    return title if last.find("}") == len(last) - 1 else heading


def load_pages(root: Path) -> tuple[list[Page], list[Problem]]:
    """Every page of a tree, and the problems of those that cannot be read."""
    pages: list[Page] = []
    problems: list[Problem] = []
    for path in below(root / "docs"):
        name = relative(path, root)
        if "/." in name:  # what Jupyter keeps beside a notebook, say; the site shows none of it
            continue
        try:
            placed(path, root)  # the site publishes every file, also those that are no page
            if path.suffix in _PARSERS:
                page = _PARSERS[path.suffix](name, read_text(path, root))
                pages.append(page)
                problems += [Problem(name, line, "gaps", "", what, REMEDY) for line, what in page_gaps(page.markdown)]
            elif path.suffix.lower() in _UNREAD:
                raise UnreadableError("a page that is not read", "write it in a file that ends in .md")  # noqa: TRY301
        except UnreadableError as error:
            problems.append(unreadable(name, "pages", error))
    return pages, problems


def page_gaps(markdown: str) -> Iterator[tuple[int, str]]:
    """The gaps of a page, those aside that it shows as code: a page may tell of them."""
    prose = without_fences(markdown)
    return gaps(masked(prose, inline_code(prose)))


def parse(path: str, text: str) -> Page:
    """A page from its source.

    Raises:
        UnreadableError: its front matter is no YAML mapping.
    """
    meta: Any = {}
    if match := FRONT_MATTER.match(text):
        meta = load_yaml("\n" + match["yaml"]).value  # a line more, so that errors name the page's lines
        meta = _checked(meta)
    elif _METADATA.match(text):
        raise UnreadableError("front matter that is not between two lines of `---`", "put it there", 1)
    elif not text.strip():
        raise UnreadableError("empty", "write the page, or delete it", 1)
    fences = tuple(_fences(text))
    blanked = _blanked(text)
    rest = LINK.sub(lambda match: blank(match[0]), blanked)
    ends = [match.start() for match in re.finditer("\n", text)]
    stray = tuple(bisect_left(ends, match.start()) + 1 for match in _STRAY.finditer(rest))
    return Page(path, text, text, meta, tuple(_links(text, blanked, ends)), fences, stray)


def _checked(meta: Any) -> dict[str, Any]:
    if not isinstance(meta, dict):
        raise UnreadableError("the front matter is no mapping", "write `key: value` lines", 1)
    if unknown := sorted(set(meta) - _KEYS):
        raise UnreadableError(f"unknown key `{unknown[0]}` in the front matter", f"use {', '.join(sorted(_KEYS))}", 1)
    if any(HIDDEN.search(text) for text in texts(meta)):
        raise UnreadableError("a character in the front matter that is not seen", "remove it", 1)
    if any(set(text) & set('<>"') for text in texts(meta)):  # themes put it into the page's head as it is
        raise UnreadableError("markup or a quotation mark in the front matter", "write it in words", 1)
    named = meta.get("hardware") or []
    if not all(isinstance(name, str) for name in (named if isinstance(named, list) else [named])):
        raise UnreadableError("`hardware` is no list of classes", "write `hardware: [class]`", 1)
    if meta.get("type", TYPES[0]) not in TYPES:
        raise UnreadableError(f"unknown type `{meta['type']}` in the front matter", f"use one of {', '.join(TYPES)}", 1)
    try:
        old_addresses_by_place(meta.get("was") or {})
    except ValueError as error:
        remedy = "write `was: {top: [old_page], place: [old_page#anchor]}`"
        raise UnreadableError(f"`was` is {error}", remedy, 1) from error
    if "answers" in meta:
        answers_of(meta["answers"])
    return meta


def parse_notebook(path: str, text: str) -> Page:
    """A page from the JSON of a notebook: its Markdown cells are its text, at their places in the file.

    Raises:
        UnreadableError: it is no notebook that can be read.
    """
    notebook = notebooks.parse(text)
    return replace(parse(path, notebook.markdown()), text=text, meta=_checked(notebook.meta), notebook=notebook)


_PARSERS = {".md": parse, ".ipynb": parse_notebook}
_UNREAD = {*_PARSERS, ".markdown", ".mdown", ".mkdn", ".mkd", ".html", ".htm", ".xhtml", ".xht", ".xml", ".svgz"}
"""How the name of a page may end for MkDocs or for a browser, in any case."""


def _fences(text: str) -> Iterator[Fence]:
    rows = text.removesuffix("\n").split("\n")
    for found in fenced(rows):
        before = rows[found.first - 1] if found.first else ""
        reason = _REASON.match(before)
        yield Fence(
            line=found.first + 1,
            language=language(found.info),
            info=found.info,
            body=tuple(rows[found.first + 1 : found.last]),
            closed=found.closed,
            reason=reason[1] if reason else None,
        )


def language(info: str) -> str:
    """The language of a fence, however it is written: ``python``, ``{.python …}`` or ``py title="…"``."""
    word = _CLASS.search(info) if info.startswith("{") else None
    word = word or re.match(r"\{?\s*\.?(?P<word>[A-Za-z0-9_+-]*)", info)
    return word["word"].lower() if word else ""


def _blanked(text: str) -> str:
    """The text with code and comments replaced by blanks, every other character in its place."""
    prose = without_fences(text)
    prose = masked(prose, comments(prose))
    return masked(prose, inline_code(prose))


def links_of(text: str) -> tuple[Link, ...]:
    """The links of a Markdown text, in order."""
    return tuple(_links(text, _blanked(text), [match.start() for match in re.finditer("\n", text)]))


def _links(text: str, blanked: str, ends: Sequence[int]) -> Iterator[Link]:
    for match in LINK.finditer(blanked):
        start, end = match.span("text")
        line = bisect_left(ends, match.start()) + 1
        yield Link(line, text[start:end], match["href"], match["title"], start, end)

"""Parse the source of pages, Markdown files and notebooks: front matter, links and fences, each with its line.

Python-Markdown, which renders the site, keeps no line numbers. A test checks that both find the same links.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from headroom.io.safe_read import HIDDEN, UnreadableError, below, checked_path, read_text
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
"""The types of pages: navigation, a reader's problem, an explanation, a contributor's task, a reference."""
_KEYS = {"title", "description", "type", "hardware", "answers", "was"}
_METADATA = re.compile(r"\A(?:---[ \t]*\n| {0,3}[A-Za-z0-9_-]+:)")  # MkDocs reads both as front matter
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
_STRAY = re.compile(r"\b(?:(?:claim|fact|estimate|estimate-table):[a-z0-9]|calc:[A-Za-z0-9(.])")
_INCLUDE = re.compile(r"^--8<-- \"(?P<path>[^\":]+)(?::(?P<region>[A-Za-z0-9_-]+))?\"$")


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page; ``start`` and ``end`` are the span of its text in the page's Markdown."""

    line: int
    text: str
    href: str
    title: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Include:
    """A file or a named region of it that a fence shows."""

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
    """The reason why its code does not run, from a comment ``<!-- not-run: … -->`` on the line above."""

    def includes(self) -> list[Include]:
        """Return the files that it shows."""
        matches = ((self.line + i, _INCLUDE.match(row.strip())) for i, row in enumerate(self.body, 1))
        return [Include(line, match["path"], match["region"]) for line, match in matches if match]


@dataclass(frozen=True, slots=True)
class Page:
    """One Markdown file or notebook below docs/."""

    path: str
    text: str
    """The content of its file."""
    markdown: str = ""
    """The same text, or the Markdown cells of a notebook."""
    meta: dict[str, Any] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    fences: tuple[Fence, ...] = ()
    stray: tuple[int, ...] = ()
    """Lines that link a claim, fact, formula or estimate in a form that is not parsed, such as a reference or HTML."""
    notebook: Notebook | None = None

    @property
    def hardware(self) -> tuple[str, ...]:
        """The hardware classes that the page is about."""
        value = self.meta.get("hardware") or []
        return tuple(value) if isinstance(value, list) else (str(value),)

    @property
    def was(self) -> dict[str, tuple[str, ...]]:
        """The old addresses of each of its anchors; `top` is the page itself."""
        return {place: tuple(olds) for place, olds in old_addresses_by_place(self.meta.get("was") or {}).items()}

    @property
    def for_readers(self) -> bool:
        """Whether it is for readers, not for contributors: outside docs/contribute/."""
        return not self.path.startswith("docs/contribute/")

    @property
    def answers(self) -> Answers | None:
        """The choices of the start page that lead to the page."""
        return answers_of(self.meta["answers"]) if "answers" in self.meta else None

    def place(self, position: int) -> int:
        """Return the position in the file of a character of the Markdown."""
        return self.notebook.place(self.markdown, position) if self.notebook else position

    @property
    def anchors(self) -> frozenset[str]:
        """The ids that a link can name: written ids, and ids made of headings."""
        return _anchors(self.markdown)


@lru_cache(maxsize=1024)  # several rules need them, page by page
def _anchors(markdown: str) -> frozenset[str]:
    prose = without_fences(markdown)
    written = (found[-1] for inside in _ATTRIBUTES.findall(prose) if (found := _ID.findall(inside)))
    titles = (_untagged(row) for row in _HEADING.findall(prose) if not _NAMED.search(row))
    made = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles)
    return frozenset([*written, *(re.sub(r"[-\s]+", "-", title) for title in made)])


def _untagged(heading: str) -> str:
    """Return a heading without the attributes in braces at its end."""
    title, _, last = heading.rstrip().rpartition("{")
    return title if last.find("}") == len(last) - 1 else heading


def load_pages(root: Path) -> tuple[list[Page], list[Problem]]:
    """Return every page of a tree, and the problems of pages that cannot be read."""
    pages: list[Page] = []
    problems: list[Problem] = []
    for path in below(root / "docs"):
        name = relative(path, root)
        if "/." in name:  # such as Jupyter's checkpoints; the site ignores them
            continue
        try:
            checked_path(path, root)  # the site publishes every file, not only pages
            if path.suffix in _PARSERS:
                page = _PARSERS[path.suffix](name, read_text(path, root))
                pages.append(page)
                problems += [Problem(name, line, "gaps", "", what, REMEDY) for line, what in page_gaps(page.markdown)]
            elif path.suffix.lower() in _UNREAD:
                raise UnreadableError("this format of pages is not checked", "write a Markdown file instead")  # noqa: TRY301
        except UnreadableError as error:
            problems.append(unreadable(name, "pages", error))
    return pages, problems


def page_gaps(markdown: str) -> Iterator[tuple[int, str]]:
    """Yield the gaps of a page, except those in code, which a page may show."""
    prose = without_fences(markdown)
    return gaps(masked(prose, inline_code(prose)))


def parse(path: str, text: str) -> Page:
    """Parse a page from its source.

    Raises:
        UnreadableError: its front matter is not a valid mapping.
    """
    meta: Any = {}
    if match := FRONT_MATTER.match(text):
        meta = load_yaml("\n" + match["yaml"]).value  # one line more, so that errors name the page's lines
        meta = _checked(meta)
    elif _METADATA.match(text):
        raise UnreadableError("the front matter is not between two lines of `---`", "put `---` above and below it", 1)
    elif not text.strip():
        raise UnreadableError("the page is empty", "write the page, or delete it", 1)
    fences = tuple(_fences(text))
    blanked = _blanked(text)
    rest = LINK.sub(lambda match: blank(match[0]), blanked)
    ends = [match.start() for match in re.finditer("\n", text)]
    stray = tuple(bisect_left(ends, match.start()) + 1 for match in _STRAY.finditer(rest))
    return Page(path, text, text, meta, tuple(_links(text, blanked, ends)), fences, stray)


def _checked(meta: Any) -> dict[str, Any]:
    if not isinstance(meta, dict):
        raise UnreadableError("the front matter is not a mapping", "write `key: value` lines", 1)
    if unknown := sorted(set(meta) - _KEYS):
        raise UnreadableError(f"unknown key `{unknown[0]}` in the front matter", f"use {', '.join(sorted(_KEYS))}", 1)
    if any(HIDDEN.search(text) for text in texts(meta)):
        raise UnreadableError("the front matter has an invisible character", "remove it", 1)
    if any(set(text) & set('<>"') for text in texts(meta)):  # themes copy it into the page's head unescaped
        raise UnreadableError("the front matter has markup or a quotation mark", "write plain words", 1)
    named = meta.get("hardware") or []
    if not all(isinstance(name, str) for name in (named if isinstance(named, list) else [named])):
        raise UnreadableError("`hardware` is not a list of classes", "write `hardware: [class]`", 1)
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
    """Parse a page from the JSON of a notebook: its text is the Markdown cells.

    Raises:
        UnreadableError: it cannot be parsed as a notebook.
    """
    notebook = notebooks.parse(text)
    return replace(parse(path, notebook.markdown()), text=text, meta=_checked(notebook.meta), notebook=notebook)


_PARSERS = {".md": parse, ".ipynb": parse_notebook}
_UNREAD = {*_PARSERS, ".markdown", ".mdown", ".mkdn", ".mkd", ".html", ".htm", ".xhtml", ".xht", ".xml", ".svgz"}
"""Suffixes, in any case, of files that MkDocs or a browser reads as pages."""


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
    """Return the language of a fence, from any form of info string: ``python``, ``{.python …}`` or ``py title="…"``."""
    word = _CLASS.search(info) if info.startswith("{") else None
    word = word or re.match(r"\{?\s*\.?(?P<word>[A-Za-z0-9_+-]*)", info)
    return word["word"].lower() if word else ""


def _blanked(text: str) -> str:
    """Return the text with blanks in place of code and comments; all positions stay."""
    prose = without_fences(text)
    prose = masked(prose, comments(prose))
    return masked(prose, inline_code(prose))


def links_of(text: str) -> tuple[Link, ...]:
    """Return the links of a Markdown text, in order."""
    return tuple(_links(text, _blanked(text), [match.start() for match in re.finditer("\n", text)]))


def _links(text: str, blanked: str, ends: Sequence[int]) -> Iterator[Link]:
    for match in LINK.finditer(blanked):
        start, end = match.span("text")
        line = bisect_left(ends, match.start()) + 1
        yield Link(line, text[start:end], match["href"], match["title"], start, end)

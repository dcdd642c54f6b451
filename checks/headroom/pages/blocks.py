"""Split Markdown into blocks of prose: paragraphs, headings, items, cells and titles, without code.

Reads the dialects of Python-Markdown, GitHub, Hugging Face and MyST. The kind of a line depends on its text, on the
open lists and admonitions around it, and on whether a paragraph is open.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from headroom.pages.markdown_syntax import fence_title, inline_code, masked

Kind = Literal["paragraph", "heading", "item", "header", "cell", "title"]

_INDENT = 4
_QUOTE = re.compile(r">(?:[ \t]*>)*")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+|$)")
_UNDERLINE = re.compile(r"(?:=+|-{2,})$")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_ITEM = re.compile(
    r"(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)){1,6}(?:\[[ xX]\](?=[ \t]))?"
)  # items can be nested on one line
_TITLED = re.compile(r"(?:(?:!!!|\?\?\?\+?)[ \t]?|===[!+]*[ \t])(?:[\w \t-]*\"(?P<title>.*)\"|[\w \t-]*)$")
_CALLOUT = re.compile(r"\[![A-Za-z]+\][+-]?")
_COLONS = re.compile(r":{3,}(?P<info>.*)$")
_CODE_NAME = re.compile(
    r"[ \t]*\{(?:code|code-block|code-cell|math|literalinclude|include|eval-rst|mermaid|toctree|figure)\b"
)
_NAME = re.compile(r"[ \t]*(?:\{[^{}]*\}|[\w.-]+)")
_OPTION = re.compile(r":[\w-]+:(?:[ \t]|$)")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
_DEFINITION = re.compile(r":(?=[ \t]+\S)")
_SKIPPED = re.compile(r"-+8<-+|\[\[[\w-]+\]\]|\{%.*%\}$|\*?\[[^\[\]]+\]:[ \t]*\S|(?:</?[A-Za-z][^<>]*>[ \t]*)+$")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of prose; ``pieces`` are the spans of its lines in the source, without markers."""

    kind: Kind
    pieces: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """The rest of a line: its position in the source, its column and its text."""

    start: int
    column: int
    text: str

    def after(self, length: int) -> "_Row":
        """Return the row without its first characters and the blanks that follow."""
        rest = self.text[length:].lstrip(" \t")
        taken = self.text[: len(self.text) - len(rest)]
        width = sum(_INDENT if char == "\t" else 1 for char in taken)
        return _Row(self.start + len(taken), self.column + width, rest)


def blocks(body: str, words: str) -> list[Block]:
    """Return the blocks of a page in order.

    Args:
        body: the page's text, without front matter and fences.
        words: the same text, of the same length, with blanks in place of comments too.
    """
    reader = _Reader()
    rows, without = body.split("\n"), words.split("\n")
    start = 0
    for number, row in enumerate(without):
        if row.strip() or not rows[number].strip():  # a comment alone on its line ends no block
            following = without[number + 1] if number + 1 < len(rows) else ""
            reader.read(_Row(start, 0, row.rstrip()), following)
        start += len(row) + 1
    reader.end()
    return reader.found


class _Reader:
    """A line-by-line parser; ``columns`` holds the columns where the open lists and admonitions have their content."""

    def __init__(self) -> None:
        self.found: list[Block] = []
        self.columns: list[int] = []
        self.outside: list[int] = []  # the open columns around a quotation, or in the last one
        self.kind: Kind = "paragraph"
        self.pieces: list[tuple[int, int]] = []
        self.blank = True
        self.quoted = 0
        self.skipping: str | None = None
        self.in_table = False

    def end(self) -> None:
        """End the open block."""
        if self.pieces:
            self.found.append(Block(self.kind, tuple(self.pieces)))
        self.pieces, self.kind, self.in_table = [], "paragraph", False

    def read(self, row: _Row, following: str) -> None:
        """Read the next line."""
        row = self._unquoted(row.after(0))
        if not row.text:
            self.end()
            self.blank = True
            return
        self._leave(row)
        code = self.blank and row.column - (self.columns[-1] if self.columns else 0) >= _INDENT
        if not code and not self._skipped(row):
            self._block(row, following)
        self.blank = code  # indented code continues

    def _unquoted(self, row: _Row) -> _Row:
        """Return the row without its quotation marks; a deeper quotation begins a block."""
        marks = _QUOTE.match(row.text)
        depth = marks[0].count(">") if marks else 0
        if marks:
            inner = row.after(marks.end())
            row = replace(inner, column=max(inner.column - row.column - marks.end() - 1, 0))
        if depth > self.quoted or (depth < self.quoted and not self.pieces):
            self.end()
            if not (depth and self.quoted):
                self.columns, self.outside = self.outside, self.columns
            if depth:
                self.columns.clear()
            self.quoted = depth
        return row

    def _leave(self, row: _Row) -> None:
        """Close the lists and admonitions that do not contain this row, unless it continues their paragraph."""
        continues = self.pieces and not self.blank and not _starts(row.text)
        while self.columns and row.column < self.columns[-1] and not continues:
            self.columns.pop()

    def _skipped(self, row: _Row) -> bool:
        """Return whether the row has no prose: math, a directive's options, an include, a link definition or tags."""
        if self.skipping is not None:
            if self.skipping in row.text:
                self.skipping = None
            return True
        colons = _COLONS.match(row.text)
        if row.text.count("$$") % 2 == 1 or row.text == "\\[":
            self.skipping = "\\]" if row.text == "\\[" else "$$"
        elif colons and _CODE_NAME.match(colons["info"]):
            self.skipping = ":::"
        elif not _OPTION.match(row.text) and (not _SKIPPED.match(row.text) or _FOOTNOTE.match(row.text)):
            return False
        self.end()
        return True

    def _block(self, row: _Row, following: str) -> None:
        """Read a row of prose."""
        if self._titled(row):
            return
        if heading := _HEADING.match(row.text):
            self.end()
            self._one("heading", row.after(heading.end()))
        elif self.pieces and self.kind == "paragraph" and not self.blank and _UNDERLINE.match(row.text):
            self.kind = "heading"
            self.end()
        elif _RULE.match(row.text):
            self.end()
        elif self.in_table or ("|" in row.text and "|" in following and _separates(following.strip("> \t"))):
            self._table(row)
        elif marker := next(
            (found for found in (p.match(row.text) for p in (_ITEM, _FOOTNOTE, _DEFINITION)) if found), None
        ):
            self._nested(row, marker)
        else:
            self.pieces.append(_piece(row))

    def _titled(self, row: _Row) -> bool:
        """Read a row that opens or closes an admonition, a tab or a fence of prose; its title is a block.

        Returns:
            Whether it is such a row.
        """
        if titled := _TITLED.match(row.text):
            self.end()
            if titled["title"]:
                start = row.start + titled.start("title")
                self.found.append(Block("title", ((start, start + len(titled["title"])),)))
            self.columns.append(row.column + _INDENT)
            return True
        if "<summary" in row.text:
            self.end()
            self._one("title", row)
            return True
        colons = _COLONS.match(row.text)
        if colons or fence_title(row.text) is not None:
            name = _NAME.match(colons["info"]) if colons else None
            words = (colons["info"][name.end() :] if name else "").strip() if colons else fence_title(row.text)
        elif self.quoted and _CALLOUT.match(row.text):
            words = _CALLOUT.sub("", row.text, count=1).strip()
        else:
            return False
        self.end()
        if words:
            self._one("title", row.after(len(row.text) - len(words)))
        return True

    def _nested(self, row: _Row, marker: re.Match[str]) -> None:
        """Open an item, a footnote or a definition, whose content is to the right of its marker."""
        self.end()
        inner = row.after(marker.end())
        self.columns.append(row.column + min(inner.column - row.column, _INDENT))
        self.kind = "item"
        if inner.text:
            self.pieces.append(_piece(inner))

    def _table(self, row: _Row) -> None:
        """Read a row of a table: each cell is a block."""
        if not self.in_table:
            self.end()
        kind: Kind = "cell" if self.in_table else "header"
        self.in_table = True
        if not _separates(row.text):
            for start, end in _cells(row.text):
                self.found.append(Block(kind, ((row.start + start, row.start + end),)))

    def _one(self, kind: Kind, row: _Row) -> None:
        """Add a block of one line."""
        if row.text:
            self.kind = kind
            self.pieces.append(_piece(row))
            self.end()


def _starts(text: str) -> bool:
    """Return whether a line always begins a new block."""
    return any(p.match(text) for p in (_HEADING, _ITEM, _TITLED, _COLONS, _FOOTNOTE, _DEFINITION, _RULE))


def _piece(row: _Row) -> tuple[int, int]:
    return (row.start, row.start + len(row.text))


def _separates(text: str) -> bool:
    return "-" in text and not text.strip(" \t|:-")


def _cells(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a row's cells. A bar after a backslash or in code separates no cells."""
    hidden = text.replace("\\|", "xx")
    hidden = masked(hidden, inline_code(hidden), "x")
    start = 1 if hidden.startswith("|") else 0
    while start < len(hidden):
        end = hidden.find("|", start)
        end = len(hidden) if end < 0 else end
        yield start, end
        start = end + 1

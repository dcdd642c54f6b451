"""Find front matter, fences, inline code and comments in Markdown, in linear time."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<yaml>.*?\n)(?:---|\.\.\.)[ \t]*\n", re.DOTALL)  # as MkDocs finds it
DIRECTIVE = re.compile(
    r"\{(?:note|tip|important|warning|caution|danger|attention|error|hint|seealso|admonition|dropdown|details|card"
    r"|grid|grid-item|grid-item-card|tab-set|tab-item|margin|sidebar|topic|versionadded|versionchanged|deprecated)\}"
)
"""Names of MyST fences that hold prose and no code."""
CALC_ADDRESS = (  # parentheses are at most three deep, and spaces only between < and >
    r"<calc:[^<>\n]*>|calc:(?:[^()\s<>]|\((?:[^()\s]|\((?:[^()\s]|\([^()\s]*\))*\))*\))+"
)
"""The address of a link to a formula."""
_END_OF_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_BACKTICKS = re.compile("`+")
_NOT_A_LINE_END = re.compile(r"[^\n]")
_FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$")


@dataclass(frozen=True, slots=True)
class Fenced:
    """Rows of code between two marks: the opening one is row ``first``, and ``last`` the closing one, or the end."""

    first: int
    last: int
    info: str
    closed: bool


def fenced(rows: list[str]) -> Iterator[Fenced]:
    """Yield the fenced code of a text's rows, without fences that hold prose."""
    prose: list[str] = []
    number = 0
    while number < len(rows):
        row = rows[number]
        opened = _FENCE.match(row) if "```" in row or "~~~" in row else None
        if opened and prose and _closes(row, prose[-1]):
            prose.pop()
        elif opened and DIRECTIVE.match(opened["info"].strip()):
            prose.append(opened["mark"])
        elif opened:
            end = next((i for i in range(number + 1, len(rows)) if _closes(rows[i], opened["mark"])), len(rows))
            yield Fenced(number, end, opened["info"].strip(), end < len(rows))
            number = end
        number += 1


@lru_cache(maxsize=1024)  # several parsers of a page ask for it
def without_fences(text: str) -> str:
    """Return the text with blanks in place of fenced code and its marks; all positions stay."""
    rows = text.split("\n")
    for fence in fenced(rows):
        for number in range(fence.first, min(fence.last + 1, len(rows))):
            rows[number] = " " * len(rows[number])
    return "\n".join(rows)


def fence_title(row: str) -> str | None:
    """Return the title of a fence of prose if this row opens one, and an empty title if it closes one."""
    mark = _FENCE.match(row)
    return DIRECTIVE.sub("", mark["info"]).strip() if mark else None


def _closes(row: str, mark: str) -> bool:
    if mark not in row:
        return False
    row = row.strip(" \t>\r")
    return len(row) >= len(mark) and not row.strip(mark[0])


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of HTML comments, without unclosed ones and those in inline code."""
    code = deque(inline_code(text))
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        end = text.find("-->", start + 4) + 3
        if end < 3:  # noqa: PLR2004 - not found
            return
        while code and code[0][1] <= start:
            code.popleft()
        if code and code[0][0] < start and end <= code[0][1]:
            end = code[0][1]
        else:
            yield start, end


def inline_code(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of inline code with its backticks; no span crosses a paragraph."""
    start = text.find("`")
    while start >= 0:
        match = _END_OF_PARAGRAPH.search(text, start)
        end = match.start() if match else len(text)
        yield from ((start + first, start + last) for first, last in _in_paragraph(text[start:end]))
        start = text.find("`", end)


def _in_paragraph(text: str) -> list[tuple[int, int]]:
    """Return the spans from each run of backticks to the next run of the same length."""
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    later: dict[int, int] = {}
    closing = [0] * len(runs)
    for i in range(len(runs) - 1, -1, -1):
        length = runs[i][1] - runs[i][0]
        closing[i] = later.get(length, 0)
        later[length] = i
    spans, i = [], 0
    while i < len(runs):
        if closing[i]:
            spans.append((runs[i][0], runs[closing[i]][1]))
        i = closing[i] + 1 if closing[i] else i + 1
    return spans


def masked(text: str, spans: Iterable[tuple[int, int]], char: str = " ") -> str:
    """Return the text with these ordered spans replaced by a character; every line keeps its length."""
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], blank(text[start:end], char)]
        done = end
    return "".join([*parts, text[done:]])


def blank(text: str, char: str = " ") -> str:
    """Return a text of this character, with the same line lengths."""
    if "\n" not in text:
        return char * len(text)
    return _NOT_A_LINE_END.sub(char, text)

"""Tabs and admonitions as plain Markdown: their title in bold, and what they hold no deeper than they stand."""

import re
from collections.abc import Sequence

from headroom.pages.markdown_syntax import fenced

_OPENS = re.compile(r"^(?P<indent> *)(?:===[!+]*|!!!|\?\?\?\+?) *(?P<name>[\w -]*?) *(?:\"(?P<title>.*)\")?$")
_INDENT = 4


def opened(lines: Sequence[str]) -> list[str]:
    """The lines of a page without containers; code stays as it is, but for its depth."""
    code = {row for fence in fenced(list(lines)) for row in range(fence.first, fence.last + 1)}
    found: list[str] = []
    depths: list[int] = []  # where the containers that are open begin
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        while line.strip() and depths and indent < depths[-1] + _INDENT:
            depths.pop()
        row = line[_INDENT * len(depths) :]
        title = None if number in code else _OPENS.match(line)
        if title and (title["title"] or title["name"]):
            depths.append(indent)
            found += [f"{row[: len(row) - len(row.lstrip(' '))]}**{title['title'] or title['name'].capitalize()}**", ""]
        else:
            found.append(row)
    return found

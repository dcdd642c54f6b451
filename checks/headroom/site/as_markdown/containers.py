"""Convert tabs and admonitions to plain Markdown: a title in bold, and the content without its indentation."""

import re
from collections.abc import Sequence

from headroom.pages.markdown_syntax import fenced

_OPENS = re.compile(r"^(?P<indent> *)(?:===[!+]*|!!!|\?\?\?\+?) *(?P<name>[\w -]*?) *(?:\"(?P<title>.*)\")?$")
_INDENT = 4


def flattened(lines: Sequence[str]) -> list[str]:
    """Return a page's lines with every container replaced; code only loses the container's indentation."""
    code = {row for fence in fenced(list(lines)) for row in range(fence.first, fence.last + 1)}
    found: list[str] = []
    depths: list[int] = []  # indentation of each open container
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

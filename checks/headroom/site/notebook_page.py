"""Convert a notebook's cells and stored outputs to a Markdown page."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from headroom.io.markdown_escape import fence
from headroom.records.notebooks import Cell, Notebook

FOLDED = "folded"
"""The tag of a cell whose code the page folds."""


def markdown(notebook: Notebook, name: str) -> str:
    """Return the page with its front matter as JSON, which is also YAML.

    Args:
        notebook: the notebook to show.
        name: the name of its file, published next to the page.
    """
    front = f"---\n{json.dumps(notebook.meta, ensure_ascii=False)}\n---"
    last = (
        f'<p class="ran-on"><a href="{name}" download>Download this notebook</a>. '
        "The tests run its cells and compare every output with the output shown here.</p>"
    )
    return "\n\n".join([front, *(part for cell in notebook.cells for part in _cell(cell)), last]) + "\n"


def _cell(cell: Cell) -> Iterator[str]:
    if cell.kind == "markdown":
        yield cell.source
    elif cell.kind == "code" and cell.source:
        code = fence(cell.source, "python")
        yield '??? example "Code"\n\n' + re.sub("(?m)^(?=.)", "    ", code) if FOLDED in cell.tags else code
        for output in cell.outputs:
            yield _output(output)


def _output(output: Mapping[str, Any]) -> str:
    """Return one stored output: Markdown, SVG and HTML unchanged, other text as a code block."""
    data = output.get("data") or {}
    if "text/markdown" in data:
        return _joined(data["text/markdown"]).strip()
    drawn = data.get("image/svg+xml") or data.get("text/html")
    if drawn:
        return re.sub(r"\n\s*\n", "\n", _joined(drawn)).strip()  # a blank line ends an HTML block
    return fence(_joined(output.get("text") or data.get("text/plain") or "").rstrip(), "{ .text .output }")


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)

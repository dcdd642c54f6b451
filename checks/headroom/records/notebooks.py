"""Notebooks as their authors wrote them: their cells, and their Markdown with every line where it stands in the file.

A notebook is JSON. It is read only in the form in which Jupyter saves it, one line of the file for each line of a cell,
so that a problem can name its line and a figure can be rewritten in its place.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headroom.io.safe_read import HIDDEN, UnreadableError
from headroom.io.strict_load import load_json, texts

_SOURCE = '   "source": ['
_SAVE = "save it with Jupyter, or run `headroom notebooks run --record`"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: `markdown`, `code` or `raw`."""

    kind: str
    line: int
    """The line of the file on which its source starts."""
    source: str
    outputs: tuple[Mapping[str, Any], ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook, the bytes of its file, and its metadata under the key `headroom`, which are a page's front matter."""

    text: str
    meta: dict[str, Any]
    cells: tuple[Cell, ...]

    def markdown(self) -> str:
        """The Markdown cells alone: as many lines as the file, each as long as the file's, from its first column on."""
        rows = [" " * len(row) for row in self.text.split("\n")]
        for cell in self.cells:
            if cell.kind == "markdown":
                for i, row in enumerate(cell.source.split("\n"), cell.line - 1):
                    rows[i] = row.ljust(len(rows[i]))
        return "\n".join(rows)

    def place(self, markdown: str, position: int) -> int:
        """Where a character of the Markdown stands in the file."""
        start = markdown.rfind("\n", 0, position) + 1
        indent = self.text.index('"', start) - start
        return start + indent + len(json.dumps(markdown[start:position], ensure_ascii=False)) - 1


def dumps(notebook: Mapping[str, Any]) -> str:
    """A notebook as Jupyter saves it."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def parse(text: str) -> Notebook:
    """A notebook from the text of its file.

    Raises:
        UnreadableError: it is no notebook, or not written as Jupyter writes it.
    """
    content = load_json(text).value
    if not isinstance(content, dict) or content.get("nbformat") != 4 or not isinstance(content.get("cells"), list):  # noqa: PLR2004
        raise UnreadableError("no notebook of format 4", "save it with Jupyter", 1)
    metadata = content.get("metadata")
    meta = metadata.get("headroom") if isinstance(metadata, dict) else None
    if not isinstance(meta, dict):
        remedy = 'add `"headroom": {"title": …, "description": …}` to its metadata'
        raise UnreadableError("the metadata have no mapping `headroom`", remedy, 1)
    if text != dumps(content):
        raise UnreadableError("not written as Jupyter writes it", _SAVE, _first_difference(text, dumps(content)))
    return Notebook(text, meta, tuple(_cells(text, content["cells"])))


def _first_difference(text: str, right: str) -> int:
    pairs = enumerate(zip(text.split("\n"), right.split("\n"), strict=False), 1)
    return next((number for number, (a, b) in pairs if a != b), 1)


def _cells(text: str, cells: list[Any]) -> Iterator[Cell]:
    rows = text.split("\n")
    starts = (number for number, row in enumerate(rows, 1) if row.startswith(_SOURCE))
    for number, cell in enumerate(cells, 1):
        line = next(starts, None)
        if line is None or not _is_cell(cell):
            raise UnreadableError(f"cell {number} is none that Jupyter writes", _SAVE, line)
        if any(HIDDEN.search(text) for text in texts(cell)):
            raise UnreadableError(f"cell {number} holds a character that is not seen", "remove it", line)
        tags = tuple(cell.get("metadata", {}).get("tags", ()))
        yield Cell(cell["cell_type"], line + 1, "".join(cell["source"]), tuple(cell.get("outputs", ())), tags)


def _is_cell(cell: Any) -> bool:
    """Whether a cell has a type, a list of lines, and where there are any, mappings as its outputs."""
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("markdown", "code", "raw"):
        return False
    lines, outputs, metadata = (cell.get("source"), cell.get("outputs", []), cell.get("metadata", {}))
    return (
        isinstance(lines, list)
        and all(isinstance(line, str) and "\n" not in line[:-1] for line in lines)
        and isinstance(outputs, list)
        and all(isinstance(output, dict) for output in outputs)
        and isinstance(metadata, dict)
        and isinstance(metadata.get("tags", []), list)
    )

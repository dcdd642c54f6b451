"""Parse notebooks: their cells, and their Markdown with the line numbers of the file.

A notebook is JSON. Only the form that Jupyter saves is accepted, with one line of the file per line of a cell. Problems
can then name their line, and figures can be rewritten in place.
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
    """The line of the file on which the source starts."""
    source: str
    outputs: tuple[Mapping[str, Any], ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook: the text of its file, its cells, and its metadata under `headroom`, which serves as front matter."""

    text: str
    meta: dict[str, Any]
    cells: tuple[Cell, ...]

    def markdown(self) -> str:
        """Return the Markdown cells alone, with as many lines as the file and each line at least as long."""
        rows = [" " * len(row) for row in self.text.split("\n")]
        for cell in self.cells:
            if cell.kind == "markdown":
                for i, row in enumerate(cell.source.split("\n"), cell.line - 1):
                    rows[i] = row.ljust(len(rows[i]))
        return "\n".join(rows)

    def place(self, markdown: str, position: int) -> int:
        """Return the position in the file of a character of the Markdown."""
        start = markdown.rfind("\n", 0, position) + 1
        indent = self.text.index('"', start) - start
        return start + indent + len(json.dumps(markdown[start:position], ensure_ascii=False)) - 1


def dumps(notebook: Mapping[str, Any]) -> str:
    """Return a notebook as Jupyter saves it."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def parse(text: str) -> Notebook:
    """Return the notebook in the text of a file.

    Raises:
        UnreadableError: the text is not a notebook, or not formatted as Jupyter saves it.
    """
    content = load_json(text).value
    if not isinstance(content, dict) or content.get("nbformat") != 4 or not isinstance(content.get("cells"), list):  # noqa: PLR2004
        raise UnreadableError("not a notebook of format 4", "save it with Jupyter", 1)
    metadata = content.get("metadata")
    meta = metadata.get("headroom") if isinstance(metadata, dict) else None
    if not isinstance(meta, dict):
        remedy = 'add `"headroom": {"title": …, "description": …}` to its metadata'
        raise UnreadableError("the metadata has no mapping `headroom`", remedy, 1)
    if text != dumps(content):
        raise UnreadableError("not formatted as Jupyter saves it", _SAVE, _first_difference(text, dumps(content)))
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
            raise UnreadableError(f"cell {number} does not have the form that Jupyter saves", _SAVE, line)
        if any(HIDDEN.search(text) for text in texts(cell)):
            raise UnreadableError(f"cell {number} contains an invisible character", "remove it", line)
        tags = tuple(cell.get("metadata", {}).get("tags", ()))
        yield Cell(cell["cell_type"], line + 1, "".join(cell["source"]), tuple(cell.get("outputs", ())), tags)


def _is_cell(cell: Any) -> bool:
    """Return whether a cell has a type, a list of lines, and mappings as its outputs."""
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

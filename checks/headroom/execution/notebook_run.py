"""Run notebooks in a fresh kernel, and compare the outputs with the stored ones.

Times, execution counts and names of the machine are neither compared nor stored.
"""

import difflib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from headroom.execution.isolation import QUIET
from headroom.io.atomic_write import write_atomic
from headroom.io.safe_read import UnreadableError, read_bytes, read_text
from headroom.records.notebooks import dumps

TIMEOUT = 300
"""Time limit of a cell in seconds; on a loaded machine, importing torch alone can take a minute."""


class NotebookError(RuntimeError):
    """A cell failed; the message names the cell and its error."""


@dataclass(frozen=True, slots=True)
class OutputDifference:
    """A cell whose outputs differ from the stored ones."""

    cell: int
    """The cell's number among all cells, from 1."""
    diff: str
    """A unified diff: `-` stored, `+` found."""


def execute(text: str) -> dict[str, Any]:
    """Run all cells of a notebook in a fresh kernel without a network, and return the notebook with its new outputs.

    Raises:
        NotebookError: a cell fails, or takes too long.
    """
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    with tempfile.TemporaryDirectory() as folder:
        own = {"IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
        # The kernel is reached through Unix sockets, which need no network, not even loopback.
        kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", connection_file=f"{folder}/kernel.json")
        client = NotebookClient(notebook, km=kernel, timeout=TIMEOUT, resources={"metadata": {"path": folder}})
        try:
            client.execute(cleanup_kc=True, env={**os.environ, **QUIET, **own})
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            cells = enumerate(notebook.cells, 1)
            ran = [i for i, cell in cells if cell.get("outputs") or cell.get("execution_count")]
            why = f"{error.ename}: {error.evalue}" if isinstance(error, CellExecutionError) else str(error)
            raise NotebookError(f"cell {max(ran, default=1)} fails: {why}; correct the cell") from error
    return clean(json.loads(nbformat.writes(notebook)))


def clean(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notebook without metadata that depends on the time and the machine of the run."""
    cells = [_clean_cell(cell) for cell in notebook["cells"]]
    metadata = {
        "headroom": notebook["metadata"].get("headroom", {}),
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _clean_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    tags = cell["metadata"].get("tags")
    kept = {**cell, "metadata": {"tags": tags} if tags else {}}
    if cell["cell_type"] == "code":
        kept["execution_count"] = None
        # Libraries log to stderr, with times and paths, so stderr does not count as output.
        shown = (output for output in cell["outputs"] if output.get("name") != "stderr")
        kept["outputs"] = [_clean_output(output) for output in shown]
    return kept


def _clean_output(output: Mapping[str, Any]) -> dict[str, Any]:
    kept = {**output, "metadata": {}} if "metadata" in output else {**output}
    if "execution_count" in kept:
        kept["execution_count"] = None
    if "data" in kept and len(kept["data"]) > 1:
        # The text form of a figure is the repr of a Python object.
        kept["data"] = {kind: data for kind, data in kept["data"].items() if kind != "text/plain"}
    return kept


def differences(stored: str, found: Mapping[str, Any]) -> Iterator[OutputDifference]:
    """Yield the cells whose outputs differ."""
    for number, (before, after) in enumerate(zip(json.loads(stored)["cells"], found["cells"], strict=True), 1):
        old, new = (json.dumps(cell.get("outputs", []), indent=1, ensure_ascii=False) for cell in (before, after))
        if old != new:
            rows = difflib.unified_diff(old.splitlines(), new.splitlines(), "stored", "found", lineterm="")
            yield OutputDifference(number, "\n".join(rows))


def run(path: Path, root: Path, *, record: bool = False) -> list[OutputDifference]:
    """Run one notebook, and return the cells whose outputs differ; with `record`, store the new outputs.

    Raises:
        NotebookError: a cell fails.
        UnreadableError: the file is not a notebook.
        UnwritableError: the outputs cannot be stored, or another program has saved the notebook meanwhile.
    """
    before = read_bytes(path, root)
    text = read_text(path, root)
    try:
        found = execute(text)
    except (json.JSONDecodeError, nbformat.reader.NotJSONError, nbformat.ValidationError) as error:
        raise UnreadableError(f"the file is not a notebook: {error}", "save it with Jupyter") from error
    if record:
        write_atomic(path, dumps(found), over=before)
    return list(differences(text, found))

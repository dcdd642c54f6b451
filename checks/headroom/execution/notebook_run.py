"""Running notebooks in a fresh kernel, and comparing what their cells show with what is stored in them.

Only what a reader sees is compared and kept: no times, no counters, nothing of the machine.
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
"""Seconds for one cell; loading torch on a busy machine takes a minute of them."""


class NotebookError(RuntimeError):
    """A notebook cannot be run to its end; says which cell, and what it raised."""


@dataclass(frozen=True, slots=True)
class OutputDifference:
    """A cell whose outputs are not the stored ones."""

    cell: int
    """Its number among all cells, from 1."""
    diff: str
    """Lines as `diff` writes them: `-` stored, `+` found."""


def execute(text: str) -> dict[str, Any]:
    """A notebook with the outputs of a run from its first cell to its last, in a kernel of its own without a network.

    Raises:
        NotebookError: a cell fails, or takes too long.
    """
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    with tempfile.TemporaryDirectory() as folder:
        own = {"IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
        # Sockets in the file system: they need no network, not even one within the machine.
        kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", connection_file=f"{folder}/kernel.json")
        client = NotebookClient(notebook, km=kernel, timeout=TIMEOUT, resources={"metadata": {"path": folder}})
        try:
            client.execute(cleanup_kc=True, env={**os.environ, **QUIET, **own})
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            cells = enumerate(notebook.cells, 1)
            ran = [i for i, cell in cells if cell.get("outputs") or cell.get("execution_count")]
            why = f"{error.ename}: {error.evalue}" if isinstance(error, CellExecutionError) else str(error)
            raise NotebookError(f"cell {max(ran, default=1)} fails: {why}") from error
    return clean(json.loads(nbformat.writes(notebook)))


def clean(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """A notebook without what depends on when and where it ran."""
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
        # What libraries log goes to stderr, with times and paths in it: it is no output of the notebook.
        shown = (output for output in cell["outputs"] if output.get("name") != "stderr")
        kept["outputs"] = [_clean_output(output) for output in shown]
    return kept


def _clean_output(output: Mapping[str, Any]) -> dict[str, Any]:
    kept = {**output, "metadata": {}} if "metadata" in output else {**output}
    if "execution_count" in kept:
        kept["execution_count"] = None
    if "data" in kept and len(kept["data"]) > 1:
        # The text form of what is drawn names a Python object, and says nothing.
        kept["data"] = {kind: data for kind, data in kept["data"].items() if kind != "text/plain"}
    return kept


def differences(stored: str, found: Mapping[str, Any]) -> Iterator[OutputDifference]:
    """The cells whose outputs differ, and how."""
    for number, (before, after) in enumerate(zip(json.loads(stored)["cells"], found["cells"], strict=True), 1):
        old, new = (json.dumps(cell.get("outputs", []), indent=1, ensure_ascii=False) for cell in (before, after))
        if old != new:
            rows = difflib.unified_diff(old.splitlines(), new.splitlines(), "stored", "found", lineterm="")
            yield OutputDifference(number, "\n".join(rows))


def run(path: Path, root: Path, *, record: bool = False) -> list[OutputDifference]:
    """Run one notebook, and say where its outputs differ from the stored ones; `record` stores the new ones.

    Raises:
        NotebookError: it cannot be run.
        UnreadableError: it is no text, or no JSON.
        UnwritableError: the new ones cannot be stored, or somebody has saved the notebook meanwhile.
    """
    before = read_bytes(path, root)
    text = read_text(path, root)
    try:
        found = execute(text)
    except (json.JSONDecodeError, nbformat.reader.NotJSONError, nbformat.ValidationError) as error:
        raise UnreadableError(f"no notebook ({error})", "save it with Jupyter") from error
    if record:
        write_atomic(path, dumps(found), over=before)
    return list(differences(text, found))

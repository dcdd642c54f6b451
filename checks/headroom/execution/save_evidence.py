"""Where evidence goes: into its place in the tree, or, where that fails, anywhere rather than nowhere."""

import tempfile
from contextlib import suppress
from pathlib import Path

from headroom.execution.session_plan import MeasureError
from headroom.io import atomic_write
from headroom.records.evidence import Evidence
from headroom.records.paths import evidence_path, evidence_text


class NotKeptError(MeasureError):
    """Evidence could not be put in its place; the message says where it was saved instead.

    Args:
        message: the message.
        text: the evidence, where it could be saved nowhere, or nothing.
    """

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


def keep(evidence: Evidence, root: Path, *spare: Path) -> Path:
    """Add one evidence file to a tree, whole or not at all, and return its path.

    Args:
        evidence: what was measured.
        root: the tree.
        spare: folders to save it in where that fails; the last one is the system's for temporary files.

    Raises:
        NotKeptError: it is not in its place.
    """
    text = evidence_text(evidence)
    path = root / evidence_path(evidence, text)
    try:
        atomic_write.add(path, text)
    except atomic_write.UnwritableError as error:
        for folder in (*spare, Path(tempfile.gettempdir())):
            with suppress(atomic_write.UnwritableError):
                atomic_write.add(folder / path.name, text)
                message = f"{error}; the evidence is saved as {folder / path.name}: make room, and move it to {path}"
                raise NotKeptError(message) from error
        message = f"{error}, nor is there room elsewhere; this is the evidence: make room, and save it as {path}"
        raise NotKeptError(message, text) from error
    return path

"""Write an evidence file into the tree, or to a fallback folder if that fails."""

import tempfile
from contextlib import suppress
from pathlib import Path

from headroom.execution.session_plan import MeasureError
from headroom.io import atomic_write
from headroom.records.evidence import Evidence
from headroom.records.paths import evidence_path, evidence_text


class EvidenceNotSavedError(MeasureError):
    """Evidence could not be written into the tree; the message names the file that it was saved to instead.

    Args:
        message: the message.
        text: the evidence itself if it could be saved nowhere, else empty.
    """

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


def keep(evidence: Evidence, root: Path, *spare: Path) -> Path:
    """Add one evidence file to a tree, atomically, and return its path.

    Args:
        evidence: the evidence of a session.
        root: the tree.
        spare: folders to try if that fails, before the system's temporary folder.

    Raises:
        EvidenceNotSavedError: the file could not be added to the tree.
    """
    text = evidence_text(evidence)
    path = root / evidence_path(evidence, text)
    try:
        atomic_write.add(path, text)
    except atomic_write.UnwritableError as error:
        for folder in (*spare, Path(tempfile.gettempdir())):
            with suppress(atomic_write.UnwritableError):
                atomic_write.add(folder / path.name, text)
                message = f"{error}; the evidence is saved as {folder / path.name}: free space, and move it to {path}"
                raise EvidenceNotSavedError(message) from error
        message = f"{error}; no other folder has space, so the evidence is printed: free space, and save it as {path}"
        raise EvidenceNotSavedError(message, text) from error
    return path

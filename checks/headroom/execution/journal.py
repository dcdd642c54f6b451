"""The journal of a session: a log under .cache/journals/ with a line per run, and how the session ended.

The first line names what is measured, the process and the start time. Each further line is a run, and the last line is
the end. The journal of a killed session lacks the last line; the next session reports the journal and adds the line.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from headroom.io.atomic_write import UnwritableError, sync_folder
from headroom.records.evidence import Failure, Run

FOLDER = ".cache/journals"
_BUFFER = 1 << 20  # larger than any line, so that a line that did not fit on a full disk is written with the next one


class Journal:
    """The journal of a running session. Leaving the ``with`` block writes how the session ended.

    Args:
        path: the file, created when the block is entered.
        header: the fields of the first line.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path, self._header = path, header
        self._file: IO[bytes] | None = None
        self._end: dict[str, Any] = {}

    def __enter__(self) -> Self:
        """Create the file and write its first line.

        Raises:
            UnwritableError: the file cannot be written, or exists already.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("xb", buffering=_BUFFER)
            self._write({"journal": "session", **self._header})
        except OSError as error:
            raise UnwritableError(self.path, error) from error
        sync_folder(self.path.parent)
        return self

    def add(self, run: Run | Failure) -> str:
        """Write and sync a run's line; return why that failed, or an empty string.

        A full disk does not end a session: the missing lines are written as soon as there is space.
        """
        try:
            self._write(run.model_dump(mode="json"))
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def complete(self, evidence: Path, **more: object) -> None:
        """Set the last line: the session is complete, and its evidence is at this path."""
        self._end = {"outcome": "completed", "evidence": str(evidence), **more}

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error and not self._end:
            outcome = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            self._end = {"outcome": outcome, "reason": str(error) or type(error).__name__}
        with suppress(OSError):  # a journal without its last line is reported by the next session
            self._write({"journal": "end", **self._end})
        with suppress(OSError):
            self._open.close()

    @property
    def _open(self) -> IO[bytes]:
        if self._file is None:
            raise RuntimeError("the journal is closed; write to it inside its `with` block")
        return self._file

    def _write(self, record: Mapping[str, Any]) -> None:
        self._open.write(_line(record))
        self._open.flush()
        os.fsync(self._open.fileno())


@dataclass(frozen=True, slots=True)
class UnfinishedSession:
    """A session whose journal has no last line: it was killed, or its machine stopped."""

    path: Path
    benchmark: str
    began: str
    done: int
    """The number of runs in its journal."""
    planned: int

    def __str__(self) -> str:
        return f"{self.done} of {self.planned} runs of {self.benchmark}, started {self.began}, in {self.path}"


def close_unfinished(root: Path) -> list[UnfinishedSession]:
    """Add the missing last line to each journal of a tree, and return the sessions of these journals.

    Call it only while no session runs: the journal of a running session has no last line either.
    """
    found = list(_unfinished(root / FOLDER))
    for each in found:
        with suppress(OSError), each.path.open("ab") as journal:
            journal.write(
                b"\n" + _line({"journal": "end", "outcome": "cut short"})
            )  # the line before may be incomplete
    return found


def failed_claims(root: Path) -> set[str]:
    """Return the claims of the sessions whose journals say that they failed: each run, or the whole session."""
    found: set[str] = set()
    for path in (root / FOLDER).glob("*.jsonl"):
        marks = [record for record in _records(path) if "journal" in record]
        if marks and marks[-1].get("outcome") == "failed":
            found.update(marks[0].get("claims", ()))
    return found


def _unfinished(folder: Path) -> Iterator[UnfinishedSession]:
    for path in sorted(folder.glob("*.jsonl")):
        records = list(_records(path))
        marks = [record for record in records if "journal" in record]
        if records and [mark["journal"] for mark in marks] == ["session"]:
            runs = len(records) - len(marks)
            yield UnfinishedSession(
                path, marks[0].get("benchmark", "?"), marks[0].get("began", "?"), runs, marks[0].get("runs", 0)
            )


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the complete lines of a journal."""
    with suppress(OSError):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError):
                if isinstance(record := json.loads(line), dict):
                    yield record


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"

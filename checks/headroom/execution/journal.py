"""The journal of a session: a file under .cache/journals/ that says, run by run, what was measured and how it ended.

The first line says what is to be measured, by which process and since when; each further one is a run, and the last one
is the end. A killed session has no such last line. The next one tells of it, and writes it.
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
_BUFFER = 1 << 20  # more than any line, so that a line that a full disk refuses is kept, and written with the next one


class Journal:
    """The journal of a session that runs. Leaving the ``with`` block writes how it ended.

    Args:
        path: the file, which is made when the block is entered.
        header: what the session is to measure.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path, self._header = path, header
        self._file: IO[bytes] | None = None
        self._end: dict[str, Any] = {}

    def __enter__(self) -> Self:
        """Begin the file.

        Raises:
            UnwritableError: it cannot be written, or is there already.
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
        """Write a run down, on the disk for good, and return why that failed, or an empty text.

        A full disk does not end a session: the lines that are missing are written as soon as there is room.
        """
        try:
            self._write(run.model_dump(mode="json"))
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def complete(self, evidence: Path, **more: object) -> None:
        """Have the journal end with the path of the evidence."""
        self._end = {"outcome": "completed", "evidence": str(evidence), **more}

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error and not self._end:
            outcome = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            self._end = {"outcome": outcome, "reason": str(error) or type(error).__name__}
        with suppress(OSError):  # a journal without an end says as much
            self._write({"journal": "end", **self._end})
        with suppress(OSError):
            self._open.close()

    @property
    def _open(self) -> IO[bytes]:
        if self._file is None:
            raise RuntimeError("a journal is written within its `with` block")
        return self._file

    def _write(self, record: Mapping[str, Any]) -> None:
        self._open.write(_line(record))
        self._open.flush()
        os.fsync(self._open.fileno())


@dataclass(frozen=True, slots=True)
class CutShort:
    """A session that ended without a word: killed, or lost with its machine."""

    path: Path
    benchmark: str
    began: str
    done: int
    """The runs that its journal holds."""
    planned: int

    def __str__(self) -> str:
        return f"{self.done} of {self.planned} runs of {self.benchmark}, begun {self.began}, in {self.path}"


def settle(root: Path) -> list[CutShort]:
    """Write the end of each journal of a tree that has none, and say what they hold.

    To be called only while no session runs: its journal has no end either.
    """
    found = list(_unfinished(root / FOLDER))
    for each in found:
        with suppress(OSError), each.path.open("ab") as journal:
            journal.write(b"\n" + _line({"journal": "end", "outcome": "cut short"}))  # the last line may be torn
    return found


def _unfinished(folder: Path) -> Iterator[CutShort]:
    for path in sorted(folder.glob("*.jsonl")):
        records = list(_records(path))
        marks = [record for record in records if "journal" in record]
        if records and [mark["journal"] for mark in marks] == ["session"]:
            runs = len(records) - len(marks)
            yield CutShort(
                path, marks[0].get("benchmark", "?"), marks[0].get("began", "?"), runs, marks[0].get("runs", 0)
            )


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal that are whole."""
    with suppress(OSError):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError):
                if isinstance(record := json.loads(line), dict):
                    yield record


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"

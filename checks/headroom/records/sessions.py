"""Sessions: evidence files. Each is read once, heard by whoever judges it, and let go; its runs can be read again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import NamedTuple

from headroom import files
from headroom.files import Found, UnreadableError
from headroom.records.base import from_json, to_json
from headroom.records.evidence import Design, Environment, Evidence, Failure, Head, Place, place
from headroom.records.layout import session_path
from headroom.records.reading import Reader

Measured = tuple[str, str, Place]
"""A metric, and the arm and the point that were measured in it."""


class Summary(NamedTuple):
    """What is kept of an evidence file when its runs are let go."""

    text_sha256: str
    head: Head
    measured: frozenset[Measured]

    def dumps(self) -> bytes:
        """The summary as text on one line."""
        head = self.head.model_dump_json(exclude={"environment"})
        return to_json([self.text_sha256, self.head.environment.model_dump_json(), head, list(self.measured)])

    @classmethod
    def loads(cls, text: bytes) -> "Summary":
        """The summary that a text was made of. It was validated before that, so nothing is validated again."""
        text_sha256, environment, head, measured = from_json(text)
        fields = from_json(head)
        fields["environment"] = _environment(environment)
        fields["design"] = Design.model_construct(**fields["design"])
        fields["failures"] = tuple(map(Failure.model_validate, fields["failures"]))
        found = frozenset((metric, arm, tuple(map(tuple, at))) for metric, arm, at in measured)
        return cls(text_sha256, Head.model_construct(**fields), found)


@cache  # a machine measures many sessions
def _environment(text: str) -> Environment:
    return Environment.model_validate_json(text)


@dataclass(frozen=True, slots=True)
class Session:
    """An evidence file: what it holds, and where it lies."""

    path: str
    head: Head
    """All that it holds but its runs, which are most of it."""
    measured: frozenset[Measured]
    read: Callable[[], Evidence] = field(repr=False, compare=False)
    sha256: str = ""
    """Of its file's bytes; empty where it comes from no file."""

    @property
    def evidence(self) -> Evidence:
        """All of it, read from its file again unless it is the one that was read last.

        Raises:
            UnreadableError: the file is no longer what it was.
        """
        return self.read()


def sessions(reader: Reader) -> Iterator[Session]:
    """The sessions of a tree, in order."""
    evidence = _Latest(reader)
    for file in reader.each("checks/evidence", ".json", "evidence"):
        data = reader.data(file, "evidence", files.MAX_JSON_BYTES)
        if data is None:
            continue
        digest = files.sha256(data)
        summary = _summary(reader, evidence, file, data, digest)
        if summary is None:
            continue
        expected = session_path(summary.head, summary.text_sha256)
        if file.name != expected:
            message = "its content is not what its name says"
            remedy = f"evidence is never edited: restore the file, or, if it is new, name it {expected}"
            reader.complain(file.name, "evidence", message, remedy, None)
        yield Session(file.name, summary.head, summary.measured, partial(evidence.again, file, digest), digest)


class _Latest:
    """Reads evidence, and remembers what it read last: all of it would fill the memory."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._last: tuple[str, Evidence] | None = None

    def read(self, file: Found, data: bytes, digest: str) -> tuple[Evidence, str] | None:
        """The evidence in a file's bytes and its text, or None and the problems that it has."""
        found = self._reader.json(file, data, "evidence", Evidence.model_validate_json, Evidence.keys)
        if found is not None:
            self._last = (digest, found[0])
        return found

    def again(self, file: Found, digest: str) -> Evidence:
        """The evidence of a file that was read before."""
        if self._last is None or self._last[0] != digest:
            data = self._reader.data(file, "evidence", files.MAX_JSON_BYTES)
            if data is None or files.sha256(data) != digest or self.read(file, data, digest) is None:
                raise UnreadableError(f"{file.name} has changed since it was read", "call the command again")
        assert self._last
        return self._last[1]


def _summary(reader: Reader, evidence: _Latest, file: Found, data: bytes, digest: str) -> Summary | None:
    remembered = reader.cache.get("session", digest)
    if remembered is not None:
        return Summary.loads(remembered)
    found = evidence.read(file, data, digest)
    if found is None:
        return None
    measured = frozenset((metric, run.arm, place(run.point)) for run in found[0].runs for metric in run.samples)
    text_sha256 = digest if b"\r" not in data else files.sha256(found[1])
    summary = Summary(text_sha256, found[0].head(), measured)
    reader.cache.put(summary.dumps(), "session", digest)
    return summary

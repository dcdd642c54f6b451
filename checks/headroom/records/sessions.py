"""Sessions: evidence files, folder by folder. Whoever hears one when it is read finds its runs at hand; then they go.

They can be read again. Of a folder that a cache knows, nothing is read.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

from headroom import files
from headroom.files import Found, UnreadableError
from headroom.records.evidence import Evidence, Head, Place, Run, place
from headroom.records.layout import session_path
from headroom.records.reading import Reader

Measured = tuple[str, str, Place]
"""A metric, and the arm and the point that were measured in it."""


@dataclass(frozen=True, slots=True)
class Session:
    """An evidence file: what it holds, and where it lies."""

    path: str
    head: Head
    """All that it holds but its runs, which are most of it."""
    measured: frozenset[Measured]
    read: Callable[[], Evidence] = field(repr=False, compare=False)

    @property
    def evidence(self) -> Evidence:
        """All of it, read from its file again unless it is the one that was read last.

        Raises:
            UnreadableError: the file is no longer what it was.
        """
        return self.read()


def folders(reader: Reader) -> Iterator["Folder"]:
    """The folders of a tree's evidence, in order, nothing of them read yet."""
    evidence = _Latest(reader)
    for name, found in groupby(reader.each("checks/evidence", ".json", "evidence"), lambda file: file.folder):
        yield Folder(name, tuple(found), reader, evidence)


class Folder:
    """The evidence files of one folder: the sessions of one benchmark, where each lies where it belongs."""

    def __init__(self, name: str, found: Sequence[Found], reader: Reader, evidence: "_Latest") -> None:
        self.name = name
        self._files, self._reader, self._evidence = found, reader, evidence
        self._identities = [files.identity(file) for file in found]  # asked for before anything is read
        self._hashes = self._known()
        self.sound = True
        """Whether each of its files that was read is what it claims to be."""

    @property
    def benchmark(self) -> str:
        """The benchmark that its sessions are of."""
        return self.name.rpartition("/")[2]

    @property
    def sha256(self) -> str | None:
        """A hash of its files' names and bytes, which are read where nobody knows them; None where one cannot be."""
        if self._hashes is None:
            self._hashes = self._read()
        if self._hashes is None:
            return None
        return files.sha256("\n".join(f"{file.name} {each}" for file, each in self._pairs(self._hashes)))

    def sessions(self) -> Iterator[Session]:
        """Its sessions, in order. What is wrong with a file is noted."""
        found = []
        for file in self._files:
            data = self._reader.data(file, "evidence", files.MAX_JSON_BYTES)
            digest = "" if data is None else files.sha256(data)
            found.append(digest)
            read = None if data is None else self._evidence.read(file, data, digest)
            if data is None or read is None:
                self.sound = False
                continue
            evidence, text = read
            expected = session_path(evidence, digest if b"\r" not in data else files.sha256(text))
            if file.name != expected:
                message = "its content is not what its name says"
                remedy = f"evidence is never edited: restore the file, or, if it is new, name it {expected}"
                self._reader.complain(file.name, "evidence", message, remedy, None)
                self.sound = False
            yield self._session(file, digest, evidence.head(), _measured(evidence.runs))
        self._hashes = found

    def restored(self, told: Sequence[tuple[Head, frozenset[Measured]]]) -> list[Session]:
        """Its sessions, where it is known what they hold: nothing is read."""
        assert self._hashes is not None
        return [self._session(*each, *kept) for each, kept in zip(self._pairs(self._hashes), told, strict=True)]

    def remember(self) -> None:
        """Keep the hashes of its files by what the system says of them, so that they need not be read for those."""
        if self._hashes is not None and self._hashes != self._known() and (key := self._place()):
            self._reader.cache.put(",".join(self._hashes).encode(), *key)

    def _session(self, file: Found, digest: str, head: Head, measured: frozenset[Measured]) -> Session:
        return Session(file.name, head, measured, partial(self._evidence.again, file, digest))

    def _pairs(self, hashes: Sequence[str]) -> Iterator[tuple[Found, str]]:
        return zip(self._files, hashes, strict=True)

    def _place(self) -> tuple[str, str] | None:
        """Where the cache has the hashes of these files as they are now."""
        known = [identity for identity in self._identities if identity]
        return ("bytes", files.sha256("\n".join(known))) if len(known) == len(self._files) else None

    def _known(self) -> list[str] | None:
        key = self._place()
        kept = self._reader.cache.get(*key) if key else None
        return kept.decode().split(",") if kept else None

    def _read(self) -> list[str] | None:
        try:
            every = (files.read_found(file, self._reader.root, limit=files.MAX_JSON_BYTES) for file in self._files)
            return [files.sha256(data) for data in every]
        except UnreadableError:
            return None


def _measured(runs: Iterable[Run]) -> frozenset[Measured]:
    """What runs have measured; most of them have measured the same as others."""
    found = {(run.arm, *run.point.items(), *run.samples): run for run in runs}
    return frozenset((metric, run.arm, place(run.point)) for run in found.values() for metric in run.samples)


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

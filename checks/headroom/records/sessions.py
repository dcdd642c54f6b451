"""Sessions: evidence files. Each is read once, heard by whoever judges it, and let go; its runs can be read again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial

from headroom.files import Found, UnreadableError
from headroom.records.evidence import Evidence, Head, Place, place
from headroom.records.layout import evidence_path
from headroom.records.reading import Reader


@dataclass(frozen=True, slots=True)
class Session:
    """An evidence file: what it holds, and where it lies."""

    path: str
    head: Head
    """All that it holds but its runs, which are most of it."""
    measured: frozenset[tuple[str, str, Place]]
    """Metrics, each with the arms and points that were measured in it."""
    read: Callable[[], Evidence] = field(repr=False, compare=False)

    @property
    def evidence(self) -> Evidence:
        """All of it, read from its file again unless it is the one that was read last.

        Raises:
            UnreadableError: the file is no longer what it was.
        """
        return self.read()


def sessions(reader: Reader) -> Iterator[Session]:
    """The sessions of a tree, in order."""

    @lru_cache(maxsize=1)  # for whoever asks while the session is at hand; all of them would fill the memory
    def read(file: Found) -> Evidence | None:
        found = reader.json(file, "evidence", Evidence.model_validate_json, Evidence.keys)
        if found is None:
            return None
        expected = evidence_path(*found)
        if file.name != expected:
            message = "its content is not what its name says"
            remedy = f"evidence is never edited: restore the file, or, if it is new, name it {expected}"
            reader.complain(file.name, "evidence", message, remedy, None)
        return found[0]

    def again(file: Found) -> Evidence:
        evidence = read(file)
        if evidence is None:
            raise UnreadableError(f"{file.name} has changed while it was read", "call the command again")
        return evidence

    for file in reader.each("checks/evidence", ".json", "evidence"):
        evidence = read(file)
        if evidence is not None:
            yield Session(file.name, evidence.head(), _measured(evidence), partial(again, file))


def _measured(evidence: Evidence) -> frozenset[tuple[str, str, Place]]:
    return frozenset((metric, run.arm, place(run.point)) for run in evidence.runs for metric in run.samples)

"""Measurement sessions: the evidence files of a tree, each with its runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from headroom.io import safe_read
from headroom.records.evidence import Evidence, Head, Place, place
from headroom.records.loader import Reader
from headroom.records.paths import session_path

Measured = tuple[str, str, Place]
"""A metric, an arm and a point for which there are samples."""


@dataclass(frozen=True)
class Session:
    """An evidence file: its path, relative to the root of the tree, and its content."""

    path: str
    evidence: Evidence

    @property
    def head(self) -> Head:
        """The session without its runs: benchmark, machine, time and design."""
        return self.evidence

    @cached_property
    def measured(self) -> frozenset[Measured]:
        """Every combination of metric, arm and point for which a run has samples."""
        # Most runs have the same metrics as others, so look at one run of each kind.
        kinds = {(run.arm, *run.point.items(), *run.samples): run for run in self.evidence.runs}
        return frozenset((metric, run.arm, place(run.point)) for run in kinds.values() for metric in run.samples)


def sessions(reader: Reader) -> Iterator[Session]:
    """Yield the valid sessions of a tree, ordered by path; the reader collects the problems of the others."""
    for file in reader.each("checks/evidence", ".json", "evidence"):
        data = reader.data(file, "evidence", safe_read.MAX_JSON_BYTES)
        if data is None:
            continue
        found = reader.json(file, data, "evidence", Evidence.model_validate_json, Evidence.keys)
        if found is None:
            continue
        evidence, text = found
        expected = session_path(evidence, safe_read.sha256(text))
        if file.name != expected:
            message = "the file name does not match the content"
            remedy = f"evidence is never edited: restore the file with git, or, if it is new, rename it to {expected}"
            reader.report(file.name, "evidence", message, remedy, None)
        yield Session(file.name, evidence)

"""The manifest of a pack: which code measured, on which machine, and the hash of every file."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from headroom.records.base import Record, Sha256, Slug, Text
from headroom.records.evidence import Environment


class PackManifest(Record):
    """The manifest of a pack that ``headroom measure --wanted --pack`` writes."""

    format: Literal[1]
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40,64}$")] | None
    """The commit that was checked out; null where the code was not in a git repository."""
    changed: dict[Text, Sha256 | None]
    """The code files that differed from the commit, with the hash of their content; null for a deleted file."""
    code_sha256: Sha256
    """The hash of the package, the benchmarks and the snippets that measured."""
    hardware_class: Slug
    """The hardware class of all records. The tree that measured may not have had it yet."""
    environment: Environment
    """The machine, with the versions of its libraries."""
    files: dict[Text, Sha256] = Field(max_length=1000)
    """The hash of every other file of the pack."""

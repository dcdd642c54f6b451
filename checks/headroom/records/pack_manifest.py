"""The manifest of a pack: which code measured, on which machine, and the hash of every file."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from headroom.io.record_pack import PackError
from headroom.io.safe_read import UnreadableError, text_of
from headroom.io.strict_load import load_json
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


def parse_manifest(data: bytes) -> PackManifest:
    """Return the manifest of these bytes.

    Raises:
        PackError: they are no manifest.
    """
    try:
        text = text_of(data)
        load_json(text)
        return PackManifest.model_validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise PackError(f"its manifest is invalid: {where}: {first['msg']}") from error
    except UnreadableError as error:
        raise PackError(f"its manifest is invalid: {error.message}") from error

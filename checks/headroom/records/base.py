"""Base class and field types of all records: frozen, strict, no unknown keys, text that is safe to print."""

from datetime import date, time
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from headroom.io.safe_read import HIDDEN, LOOKALIKE
from headroom.maths.units import UNITS

_EARLIEST = "2015-01-01"


def _plain(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    if HIDDEN.search(text):  # written as an escape: a file with the character itself is not read at all
        raise ValueError("contains a control, text-direction or invisible character; remove it")
    if alike := LOOKALIKE.search(text):
        raise ValueError(f"`{alike[0]}` contains a letter that only looks Latin; write the word in one alphabet")
    return text


def _unit(text: str) -> str:
    if text not in UNITS:
        raise ValueError(f"unknown unit `{text}`; use one of {', '.join(UNITS)}, or add it to headroom.maths.units")
    return text


def _time(text: str) -> str:
    try:
        time.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"`{text}` is not a time of day; write one as HH:MM:SS, in UTC") from error
    return text


def _date(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"`{text}` is not a date; write an existing day as YYYY-MM-DD") from error
    if text < _EARLIEST:
        raise ValueError(f"`{text}` is before {_EARLIEST}, the earliest date that is accepted; correct it")
    return text


Text = Annotated[str, StringConstraints(min_length=1, max_length=600, strip_whitespace=True), AfterValidator(_plain)]
Unit = Annotated[str, AfterValidator(_unit)]
"""A unit of ``headroom.maths.units``."""
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
ClaimId = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+$", max_length=120)
]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
IsoDate = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$"), AfterValidator(_date)]
IsoTime = Annotated[str, StringConstraints(pattern=r"^\d{2}:\d{2}:\d{2}$"), AfterValidator(_time)]
Url = Annotated[
    str, StringConstraints(pattern=r"^https://[A-Za-z0-9.-]+(:[0-9]+)?([/?#][^\s<>\"']*)?$", max_length=300)
]
"""A web address without a user name before the host."""
PagePath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\.(md|ipynb)$", max_length=120)]
Section = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\.(md|ipynb)(#[A-Za-z0-9_-]+)?$", max_length=180),
]
OldAddress = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*(#[A-Za-z0-9_-]+)?$", max_length=180)
]
"""An earlier address of a page or a section: a page path without its suffix, with or without an anchor."""
SnippetId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$", max_length=120)]
HubName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$", max_length=120)
]
Value = int | float | Text
"""The value of one axis at one point: a number, or a word if the axis has no order."""


class Record(BaseModel):
    """An immutable record that rejects unknown keys.

    A record whose files are never edited gets new fields with None as their default. Old files lack these fields and
    are written without them, so that their hashes do not change.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,  # until a class is first used: no command needs all of them
    )

    def written(self) -> int:
        """Return the number of keys in the record as it was written, without the keys of nested records."""
        return len(self.model_fields_set)

    def as_written(self) -> dict[str, Any]:
        """Return the record as JSON values, without the fields that its file lacks."""
        return self.model_dump(mode="json", exclude_unset=True)

"""What all records share: frozen, strict, no unknown key, and texts that are safe to show."""

from datetime import date, time
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from headroom.io.safe_read import HIDDEN, LOOKALIKE

_EARLIEST = "2015-01-01"


def _plain(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    if HIDDEN.search(text):  # written as an escape: files that hold one are not read at all
        raise ValueError("holds a control or reordering character, or one that is not seen; remove it")
    if alike := LOOKALIKE.search(text):
        raise ValueError(f"holds a letter that looks Latin and is not, in `{alike[0]}`; write the word in one alphabet")
    return text


def _time(text: str) -> str:
    try:
        time.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"`{text}` is no time of day; write one as HH:MM:SS, in UTC") from error
    return text


def _date(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"`{text}` is no day; write one as YYYY-MM-DD") from error
    if text < _EARLIEST:
        raise ValueError(f"`{text}` is before {_EARLIEST}, when none of this existed; correct it")
    return text


Text = Annotated[str, StringConstraints(min_length=1, max_length=600, strip_whitespace=True), AfterValidator(_plain)]
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
"""An address of the web, without a user's name before its host."""
PagePath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\.(md|ipynb)$", max_length=120)]
Section = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\.(md|ipynb)(#[A-Za-z0-9_-]+)?$", max_length=180),
]
OldAddress = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*(#[A-Za-z0-9_-]+)?$", max_length=180)
]
"""An address that led here once: a page without its ending, and maybe an anchor on it."""
SnippetId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$", max_length=120)]
HubName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$", max_length=120)
]
Value = int | float | Text
"""The value of one axis at one point: a number, or a word where the axis has no order."""


class Record(BaseModel):
    """A record as it is written down: it cannot be changed, and a key that it does not know is an error.

    A kind whose files are never edited grows by a field that is None where it was not asked for yet. Old files lack it,
    and are written without it, so that their hashes stay.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,  # until a kind is first read or made: no command needs all of them
    )

    def written(self) -> int:
        """How many keys stand in the record as it was written, those of its parts not counted."""
        return len(self.model_fields_set)

    def as_written(self) -> dict[str, Any]:
        """The record as JSON values, without the fields that it was written without."""
        return self.model_dump(mode="json", exclude_unset=True)

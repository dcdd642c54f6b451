"""Out-of-memory errors of PyTorch that people quoted: checks/facts/out-of-memory.yml."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from headroom.records.base import IsoDate, Record, Slug, Text, Url

PATH = "checks/facts/out-of-memory.yml"


class Amount(Record):
    """A figure of the error's message."""

    value: float = Field(ge=0)
    unit: Literal["GiB", "MiB", "KiB"]


class QuotedError(Record):
    """An out-of-memory error: what PyTorch had allocated and reserved when no memory was left."""

    job: Text
    url: Url
    locator: Text
    gpus: Literal["one", "several"]
    """The GPUs of the job."""
    allocated: Amount
    reserved: Amount | None = None
    """The reserved memory, as torch before 2.1 prints it."""
    unallocated: Amount | None = None
    """The reserved memory that is not allocated, as later versions print it."""
    in_use: Amount | None = None
    """The memory of the process, which includes what PyTorch did not reserve."""

    @model_validator(mode="after")
    def _has_one_form(self) -> "QuotedError":
        if (self.reserved is None) is (self.unallocated is None):
            raise ValueError("an error states either `reserved` or `unallocated`; give one of them")
        return self


class QuotedErrors(Record):
    """The errors, by a short id, and how they were chosen."""

    title: Text
    chosen: Text
    """Which errors are in the list."""
    left_out: Text
    """Which errors that were found are not, and why."""
    retrieved: IsoDate
    errors: Annotated[dict[Slug, QuotedError], Field(min_length=1)]

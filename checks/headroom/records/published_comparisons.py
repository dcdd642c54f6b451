"""Published comparisons: rows that somebody else measured and published, with their origin, licence and conditions."""

import re
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from headroom.records.base import ClaimId, IsoDate, Record, Sha256, Slug, Text, Unit

Raw = Literal["samples", "windows", "quantiles", "reruns", "single", "headline"]
"""What one row is, and so what can be concluded from the rows."""
Column = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Cell = Annotated[str, StringConstraints(max_length=300)]
"""A cell's text, exactly as it is in the file; empty for an empty cell."""
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Repository = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$", max_length=140)]
OriginalPath = Annotated[str, StringConstraints(pattern=r"^[^\s<>\"'\\`]([^<>\"'\\`]*[^\s<>\"'\\`])?$", max_length=300)]
Copy = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*/[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=160)]
"""A path below checks/published/: the source's folder and a file."""
_MANY = ("samples", "windows", "reruns")


class OriginFile(Record):
    """One file of the source's repository, as it was retrieved."""

    path: OriginalPath
    sha256: Sha256 | None = None
    """Null if the file was read without its bytes."""
    commit: Commit | None = None
    """Its commit, if it differs from the source's."""


class Original(OriginFile):
    """A file whose rows are copied."""

    sha256: Sha256


class Origin(Record):
    """Where published figures come from, and who measured them."""

    title: Text
    """The name of the project or the table."""
    repository: Repository
    """The GitHub repository."""
    commit: Commit
    files: tuple[OriginFile, ...] = Field(min_length=1, max_length=80)
    """The files that the figures were copied from or that state their conditions; the first is linked."""
    locator: Text
    """The place in the file: lines, a table, a section."""
    licence: Text
    """The SPDX name of the licence that permits the copy."""
    copyright: Text
    retrieved: IsoDate
    measured_until: IsoDate
    """The latest day on which it can have been measured, as the file's last commit."""
    measured_by: Text

    @property
    def url(self) -> str:
        """Return the address of the first file at its commit."""
        path = self.files[0].path.replace("%", "%25").replace(" ", "%20").replace("#", "%23").replace("?", "%3F")
        return f"https://github.com/{self.repository}/blob/{self.commit}/{path}"


class Source(Origin):
    """The origin of copied rows, with the licence's text and the stake of its authors."""

    files: tuple[Original, ...] = Field(min_length=1, max_length=60)
    """The files that the rows were copied from; the first is linked."""
    licence_text: Copy
    """The copy of the licence's text, below checks/published/."""
    stake: Literal["author", "vendor", "independent"]
    """The stake in the result: the subject's authors, its vendor, or nobody's."""
    stake_note: Text | None = None
    """Details about the stake."""


class Rows(Record):
    """The copy of the published rows."""

    file: Copy
    """A CSV file below checks/published/."""
    sha256: Sha256
    transcribed: Text | None = None
    """How the copy differs from the original: null if its rows are unchanged."""
    outcomes: tuple[Column, ...] = ()
    """The columns with other results and names of runs, in which the arms may differ."""


class Selection(Record):
    """The selected rows of the two arms: a row belongs to an arm if all named cells are equal."""

    common: dict[Column, Cell] = Field(default_factory=dict)
    subject: dict[Column, Cell] = Field(min_length=1)
    baseline: dict[Column, Cell] = Field(min_length=1)
    repeat: Column | None = None
    """The column that numbers samples, windows or reruns. Reruns of both arms are paired by it."""

    @model_validator(mode="after")
    def _same_columns(self) -> "Selection":
        if set(self.subject) != set(self.baseline):
            raise ValueError("subject and baseline select by different columns; name the same columns in both")
        if self.subject == self.baseline:
            raise ValueError("subject and baseline select the same rows; select two arms")
        if shared := set(self.common) & set(self.subject):
            raise ValueError(f"`{min(shared)}` is in common and in the arms; name it in one place")
        return self


class PublishedMetric(Record):
    """The column that is compared."""

    column: Column
    unit: Unit
    """The column's unit."""
    p20: Column | None = None
    p80: Column | None = None
    """The columns of the 20th and 80th percentile, for ``raw: quantiles``; ``column`` then has the median."""


class Stated(Record):
    """A condition, and where the source states it."""

    name: Text
    value: Text
    stated_by: Text


class PublishedHardware(Record):
    """The hardware as the source states it."""

    product: Text
    """The full product name."""
    short: Slug
    """The short name that tables group by, as ``a100``, ``h100``, ``l40s`` or ``rtx-4090``."""
    count: int = Field(ge=1, le=100_000)
    architecture: Literal["older", "volta", "turing", "ampere", "ada", "hopper", "blackwell", "cdna", "cpu"]
    stated_by: Text


class Software(Record):
    """The versions that the source states."""

    versions: dict[Text, Text] = Field(default_factory=dict)
    stated_by: Text


class Confound(Record):
    """A difference between the arms other than the method."""

    columns: tuple[Column, ...] = ()
    """The columns that show it; empty if no column does."""
    what: Text


class Plausible(Record):
    """Bounds for the roofline gate."""

    flops: float = Field(gt=0)
    """The FLOPs per token (or sample) of a rate, or per measured time."""
    peak_flops: float = Field(gt=0)
    """The peak FLOP/s of one device in the fastest format of the run."""
    stated_by: Text


class PublishedComparison(Record):
    """One comparison of a subject with a baseline in published rows."""

    id: Slug
    """The name of its file."""
    claim: ClaimId
    source: Source
    rows: Rows
    select: Selection
    metric: PublishedMetric
    raw: Raw
    hardware: PublishedHardware
    software: Software
    conditions: tuple[Stated, ...] = ()
    unknown: tuple[Text, ...] = Field(min_length=1)
    """What the source does not say and could change the result."""
    exceptions: tuple[Confound, ...] = ()
    """How the arms differ in more than the method; the claim's page shows it."""
    plausible: Plausible | None = None

    @model_validator(mode="after")
    def _rows_fit_the_kind(self) -> "PublishedComparison":
        if self.raw == "headline":
            raise ValueError("a printed ratio or a headline has no rows; write a cited claim with its quote")
        if (self.raw in _MANY) != (self.select.repeat is not None):
            raise ValueError(f"`select.repeat` belongs to {', '.join(_MANY)}; add or remove it, or correct `raw`")
        if (self.raw == "quantiles") != (self.metric.p20 is not None and self.metric.p80 is not None):
            raise ValueError("`raw: quantiles` needs metric.p20 and metric.p80; add or remove them, or correct `raw`")
        if self.source.measured_until > self.source.retrieved:
            raise ValueError("the rows were retrieved before they were measured; correct a date")
        if re.sub(r"/.*", "", self.rows.file) != re.sub(r"/.*", "", self.source.licence_text):
            raise ValueError("the rows and their licence are in different folders; put them into one")
        return self

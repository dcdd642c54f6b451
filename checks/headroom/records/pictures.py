"""The data of pictures: one YAML file per picture under checks/pictures/, of one kind each.

Every figure is a formula of the picture's lets, the output of a snippet, or the figure of a claim. No coordinate and no
result is in these files.
"""

from typing import Annotated, Literal

from pydantic import Field

from headroom.records.base import ClaimId, Record, Section, SnippetId, Text
from headroom.records.parallel_pictures import (
    CausalBalance,
    Component,
    DeviceMesh,
    Formula,
    Lets,
    Parallelism,
    PipelineSchedules,
    StepTimeline,
)
from headroom.records.published_comparisons import Cell, Column, Copy


class Bar(Record):
    """One bar: its name, and the formula of each component."""

    name: Text
    parts: dict[Component, Formula]


class Bars(Record):
    """Stacked bars of memory by component, with lines for cards."""

    kind: Literal["bars"]
    title: Text
    unit: Text
    let: Lets = Field(default_factory=dict)
    panels: dict[Text, Lets] = Field(default_factory=dict)
    """Further lets of each panel, by its title. Without any there is one panel, without a title."""
    lines: dict[Text, Formula] = Field(default_factory=dict)
    """Vertical lines through all bars, by their label."""
    bars: tuple[Bar, ...]
    note: Text | None = None


class TimelinePanel(Record):
    """One recorded step: the name of its rows in the output, and its title."""

    rows: Text
    title: Text


class Timeline(Record):
    """Stacked areas over time, from the rows that a snippet printed."""

    kind: Literal["timeline"]
    title: Text
    snippet: SnippetId
    unit: Text
    panels: tuple[TimelinePanel, ...]
    note: Text | None = None


class Lane(Record):
    """One line of a trace, and the colour of its stretches."""

    name: Text
    rows: Text
    fill: Literal["w", "o", "g", "a", "l", "x", "bad"]


class Trace(Record):
    """One recorded trace and what it shows."""

    rows: Text
    title: Text
    says: Text


class Traces(Record):
    """Lanes over time of profiled steps, from the rows that a snippet printed."""

    kind: Literal["traces"]
    title: Text
    snippet: SnippetId
    lanes: tuple[Lane, ...]
    traces: tuple[Trace, ...]
    note: Text | None = None


class LoadCurves(Record):
    """Curves over the load of a server, from the points that a snippet printed: two numbers per row."""

    kind: Literal["load-curves"]
    title: Text
    snippet: SnippetId
    x: Text
    """What the first number of a row is, with its unit."""
    y: Text
    """What the second number is, with its unit."""
    curves: Annotated[dict[Text, Text], Field(min_length=1, max_length=3)]
    """The name of each curve and the word that its rows begin with."""
    note: Text | None = None


class Answer(Record):
    """What to do: a link to a section, or plain words, and a sentence on it."""

    text: Text
    section: Section | None = None
    why: Text | None = None


class Question(Record):
    """A question and the answer if it is true."""

    ask: Text
    yes: Answer


class Decision(Record):
    """Questions from top to bottom; the first one that is true gives the answer."""

    kind: Literal["decision"]
    title: Text
    start: Text
    questions: tuple[Question, ...]
    otherwise: Answer
    note: Text | None = None


class SavedGroup(Record):
    """Tensors that a layer saves: bytes per token, and how many of them a selective policy keeps."""

    name: Text
    saved: Formula
    selective: Formula


class Variant(Record):
    """One kind of checkpointing."""

    name: Text
    note: Text
    saves: Literal["all", "selective", "input"]
    where: Literal["GPU", "host"] = "GPU"


class SavedTensors(Record):
    """What one layer saves, in order and to scale, for each kind of checkpointing."""

    kind: Literal["saved-tensors"]
    title: Text
    let: Lets
    input: Formula
    """The bytes per token of a layer's input."""
    tokens: Formula
    layers: Formula
    groups: tuple[SavedGroup, ...]
    variants: tuple[Variant, ...]


class BatchLayouts(Record):
    """Sequences padded, flattened and packed; rows and masks are computed from their lengths."""

    kind: Literal["batch-layouts"]
    title: Text
    lengths: Annotated[tuple[int, ...], Field(min_length=2, max_length=4)]
    row: int = Field(ge=1, le=16)
    """The length of a packed row."""


class NumberFormat(Record):
    """A format: bits of sign, exponent and mantissa."""

    name: Text
    sign: int = Field(ge=0, le=1)
    exponent: int = Field(ge=0, le=16)
    mantissa: int = Field(ge=0, le=32)
    note: Text


class NumberFormats(Record):
    """The bits of number formats."""

    kind: Literal["number-formats"]
    title: Text
    formats: tuple[NumberFormat, ...]


class Comparison(Record):
    """One panel of a forest plot: claims whose ratios share an axis."""

    title: Text
    claims: dict[Text, ClaimId]
    """The claims by the name of their row: the model and the batch."""


class Forest(Record):
    """The ratios of claims on a logarithmic axis, one row per claim and hardware."""

    kind: Literal["forest"]
    title: Text
    comparisons: tuple[Comparison, ...]


class Curves(Record):
    """Formulas of one variable on logarithmic axes, with their values at named places."""

    kind: Literal["curves"]
    title: Text
    let: Lets
    x: Text
    """What the variable is, with its unit."""
    y: Text
    """What the formulas give, with its unit."""
    places: Annotated[dict[Text, Formula | float], Field(min_length=2)]
    """Values of the variable, by name; the axis reaches a little beyond the least and the greatest."""
    curves: Annotated[dict[Text, Formula], Field(min_length=1, max_length=3)]
    """Formulas of the lets and of X, the variable."""
    note: Text | None = None


class PublishedCurve(Record):
    """The points of one curve: the published rows that have these cells, in the order of the file."""

    rows: Copy
    where: dict[Column, Cell]
    x: Column
    y: Column
    full: Cell | None = None
    """The cell of ``x`` in the row that counts as 100 %; null to draw the column as it is."""
    least: float | None = None
    """Rows with a smaller ``x`` are left out."""


class PublishedCurves(Record):
    """Published rows as curves with a mark per row."""

    kind: Literal["published-curves"]
    title: Text
    x: Text
    """What the columns ``x`` hold, with their unit."""
    y: Text
    logarithmic: bool = False
    """Whether both axes are logarithmic; else both are linear, and the vertical one begins at 0."""
    ticks: Annotated[dict[Text, float], Field(min_length=2)]
    """Marks of the horizontal axis by their label."""
    curves: Annotated[dict[Text, PublishedCurve], Field(min_length=1, max_length=3)]
    note: Text | None = None


class ErrorStrips(Record):
    """The signed errors of one comparison: a mark per figure, a row per source, part, kind of job or calculator."""

    kind: Literal["error-strips"]
    title: Text
    show: Literal["published", "traced", "measured", "calculators", "step-time"]
    limit: float = Field(gt=0, le=1000)
    """The error in percent at the ends of the axis; larger errors are drawn there."""


PictureData = Annotated[
    ErrorStrips
    | Bars
    | Timeline
    | Traces
    | LoadCurves
    | Decision
    | SavedTensors
    | BatchLayouts
    | NumberFormats
    | Forest
    | Parallelism
    | PipelineSchedules
    | StepTimeline
    | Curves
    | PublishedCurves
    | DeviceMesh
    | CausalBalance,
    Field(discriminator="kind"),
]

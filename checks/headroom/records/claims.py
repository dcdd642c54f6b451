"""Claims: one sentence each, and how it is held to the evidence."""

import math
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from headroom.records.base import IsoDate, Name, Record, Slug, Text, Url, Value
from headroom.records.claim_base import Statement
from headroom.records.metrics import METRICS, MetricKind
from headroom.records.modelled_claims import ModelledClaim
from headroom.records.quality import GivesUp

Point = Mapping[str, Value]
_HOLDS_FOR = re.compile(r"^(?P<axis>[a-z][a-z0-9_]*) (?P<sign>>=|<=) (?P<bound>\d+(\.\d+)?)$", re.ASCII)
_PRINTED = re.compile(r"\d[\d,]*(?:\.\d+)?", re.ASCII)


class Metric(Record):
    """What is compared."""

    name: str
    """One of the closed list in ``headroom.records.metrics``."""
    carries_over: bool = False
    """Whether what one device says of it holds on others: counts, shapes and storage do, times never do."""

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in METRICS:
            raise ValueError(f"unknown metric `{name}`; use one of {', '.join(METRICS)}")
        return name

    @model_validator(mode="after")
    def _times_stay(self) -> "Metric":
        if self.carries_over and not self.kind.exact:
            raise ValueError(f"`{self.name}` never carries over to other hardware; remove carries_over")
        return self

    @property
    def kind(self) -> MetricKind:
        """The metric's unit, direction and meaning."""
        return METRICS[self.name]


class Sweep(Record):
    """One axis along which the claim is tried, all points measured in one session."""

    axis: Name
    unit: Text
    grid: tuple[int | float, ...] = Field(min_length=2, max_length=16)

    @field_validator("grid")
    @classmethod
    def _rising(cls, grid: tuple[float, ...]) -> tuple[float, ...]:
        if any(b <= a for a, b in pairwise(grid)):
            raise ValueError("is not rising; sort it, each value once")
        return grid


class Scope(Record):
    """What is held fixed, what is swept, and for which hardware the sentence is meant."""

    fixed: dict[Name, Value]
    """Conditions that the benchmark holds fixed, for the reader."""
    at: dict[Name, Value] = Field(default_factory=dict)
    """The benchmark's parameters that are not swept."""
    sweep: Sweep | None = None
    holds_for: str | None = None
    """The part of the sweep that the sentence asserts, as ``axis >= value`` or ``axis <= value``; else all of it."""
    hardware: tuple[Slug, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _part_of_the_sweep(self) -> "Scope":
        if self.holds_for is None:
            return self
        match = _HOLDS_FOR.match(self.holds_for)
        if match is None or self.sweep is None or match["axis"] != self.sweep.axis:
            raise ValueError("holds_for is no bound on the swept axis; write `axis >= value` or `axis <= value`")
        if not any(map(self.asserted, self.points)):
            raise ValueError("holds_for leaves no point of the grid; correct the bound")
        return self

    @property
    def points(self) -> tuple[Point, ...]:
        """Every point at which the claim is tried."""
        if self.sweep is None:
            return (self.at,)
        return tuple({**self.at, self.sweep.axis: value} for value in self.sweep.grid)

    def asserted(self, point: Point) -> bool:
        """Whether the sentence is meant to hold at this point."""
        match = _HOLDS_FOR.match(self.holds_for or "")
        if match is None:
            return True
        value, bound = float(point[match["axis"]]), float(match["bound"])
        return value >= bound if match["sign"] == ">=" else value <= bound


class Flip(Record):
    """Where along the sweep the verdict changes, and why."""

    between: tuple[int | float, int | float]
    why: Text


class Freshness(Record):
    """When evidence stops speaking for the claim."""

    max_age_days: int = Field(default=365, ge=30, le=1100)
    keys: tuple[Literal["benchmark", "torch", "transformers", "driver"], ...] = ("benchmark", "torch", "transformers")


class MeasuredClaim(Statement):
    """A claim that stands on sessions of one benchmark."""

    kind: Literal["measured"]
    benchmark: Name
    subject: Text
    """The arm that is said to be better."""
    baseline: Text
    metric: Metric
    relation: Literal["better", "not_worse", "equal_within"] = "better"
    min_effect: float = Field(default=0.02, ge=0, le=10)
    """The smallest relative improvement that counts, for ``better``."""
    margin: float | None = Field(default=None, gt=0, le=1)
    """The largest relative difference that does not count, for the other relations."""
    blocks: int = Field(default=20, ge=10, le=100)
    """How many blocks a session has, fixed before it is run."""
    tolerance: float | None = Field(default=None, ge=0, le=0.5)
    """How far, relatively, the outputs of the two arms may differ before they no longer do the same work."""
    gives_up: GivesUp | None = None
    """What the subject loses in quality, where the two are not meant to compute the same; in place of a tolerance."""
    scope: Scope
    flips: tuple[Flip, ...] = ()
    """Where the verdict changes along the sweep; empty where it does not."""
    freshness: Freshness = Freshness()

    @model_validator(mode="after")
    def _margin_where_it_belongs(self) -> "MeasuredClaim":
        if (self.relation == "better") != (self.margin is None):
            raise ValueError("a margin belongs to not_worse and equal_within, and only to them; add or remove it")
        if self.subject == self.baseline:
            raise ValueError("subject and baseline are the same arm; name two")
        if self.flips and self.scope.sweep is None:
            raise ValueError("a claim without a sweep cannot flip; remove flips")
        if (self.tolerance is None) == (self.gives_up is None):
            raise ValueError("a claim has a tolerance or says what it gives up; write one of the two")
        return self

    @property
    def allowed(self) -> float:
        """How far, relatively, an output may be from the one that is asked for."""
        return self.gives_up.at_most if self.gives_up else self.tolerance or 0.0


class Source(Record):
    """Where a cited sentence stands."""

    title: Text
    authors: Text
    year: int = Field(ge=1990, le=2100)
    type: Literal["paper", "vendor", "documentation", "web"]
    url: Url
    locator: Text
    """Where in the source: a section, a table, a page."""
    retrieved: IsoDate


class CitedFigure(Record):
    """One figure of a source, as the source prints it."""

    name: Name
    value: float
    unit: Text
    as_printed: Text

    @model_validator(mode="after")
    def _value_is_what_is_printed(self) -> "CitedFigure":
        printed = [float(number.replace(",", "")) for number in _PRINTED.findall(self.as_printed)]
        meant = [number * scale for number in printed for scale in (1.0, 1e3, 1e6, 1e9)]
        meant += [a / b for a, b in pairwise(printed) if b]
        if printed and not any(math.isclose(self.value, each, rel_tol=0.01) for each in meant):
            raise ValueError(f"the value {self.value:g} is not `{self.as_printed}`; write 29 for `29%`")
        return self


class CitedClaim(Statement):
    """A claim that somebody else has measured; it is reported, not endorsed."""

    kind: Literal["cited"]
    source: Source
    quote: Text
    """The words of the source, at most 25 of them."""
    figures: tuple[CitedFigure, ...] = Field(min_length=1)
    in_brief: Text | None = None
    """What a table cell shows: of what the figure is, in at most twelve words. Without it, a cell shows no figure."""
    hardware_as_stated: Text
    independence: Literal["author", "vendor", "independent"]

    @model_validator(mode="after")
    def _figures_stand_in_the_quote(self) -> "CitedClaim":
        words = len(self.quote.split())
        if words > 25:  # noqa: PLR2004 - said in the message
            raise ValueError(f"the quote has {words} words; quote at most 25")
        if len((self.in_brief or "").split()) > 12:  # noqa: PLR2004 - as above
            raise ValueError("in_brief has more than 12 words; a table cell has no room for them")
        for figure in self.figures:
            if figure.as_printed not in self.quote:
                raise ValueError(
                    f"the figure `{figure.as_printed}` does not stand in the quote; quote the words that hold it"
                )
        return self


Claim = Annotated[MeasuredClaim | CitedClaim | ModelledClaim, Field(discriminator="kind")]

"""Measured and cited claims: one sentence each, with what is compared, where, and how evidence decides it."""

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
from headroom.records.reported_claims import ReportedClaim

Point = Mapping[str, Value]
_HOLDS_FOR = re.compile(r"^(?P<axis>[a-z][a-z0-9_]*) (?P<sign>>=|<=) (?P<bound>\d+(\.\d+)?)$", re.ASCII)
_PRINTED = re.compile(r"\d[\d,]*(?:\.\d+)?", re.ASCII)


class Metric(Record):
    """The metric that a claim compares."""

    name: str
    """A name from the closed list in ``headroom.records.metrics``."""
    carries_over: bool = False
    """Whether a result on one device holds on others: counts, shapes and storage do, times never do."""

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
    """One axis along which the claim is measured, with all points in one session."""

    axis: Name
    unit: Text
    grid: tuple[int | float, ...] = Field(min_length=2, max_length=16)

    @field_validator("grid")
    @classmethod
    def _rising(cls, grid: tuple[float, ...]) -> tuple[float, ...]:
        if any(b <= a for a, b in pairwise(grid)):
            raise ValueError("the grid is not in ascending order; sort it, with each value once")
        return grid


class Scope(Record):
    """Fixed conditions, swept axis and hardware classes of a claim."""

    fixed: dict[Name, Value]
    """Conditions that the benchmark fixes, shown to readers."""
    at: dict[Name, Value] = Field(default_factory=dict)
    """The benchmark's parameters that are not swept."""
    sweep: Sweep | None = None
    holds_for: str | None = None
    """The part of the sweep that the sentence asserts, as ``axis >= value`` or ``axis <= value``; by default all."""
    hardware: tuple[Slug, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _part_of_the_sweep(self) -> "Scope":
        if self.holds_for is None:
            return self
        match = _HOLDS_FOR.match(self.holds_for)
        if match is None or self.sweep is None or match["axis"] != self.sweep.axis:
            raise ValueError("holds_for is not a bound on the swept axis; write `axis >= value` or `axis <= value`")
        if not any(map(self.asserted, self.points)):
            raise ValueError("no point of the grid satisfies holds_for; correct the bound or the grid")
        return self

    @property
    def points(self) -> tuple[Point, ...]:
        """Every point at which the claim is measured."""
        if self.sweep is None:
            return (self.at,)
        return tuple({**self.at, self.sweep.axis: value} for value in self.sweep.grid)

    def asserted(self, point: Point) -> bool:
        """Return whether the claim asserts this point."""
        match = _HOLDS_FOR.match(self.holds_for or "")
        if match is None:
            return True
        value, bound = float(point[match["axis"]]), float(match["bound"])
        return value >= bound if match["sign"] == ">=" else value <= bound


class Flip(Record):
    """A place on the sweep at which the verdict changes, and why."""

    between: tuple[int | float, int | float]
    why: Text


class Freshness(Record):
    """When the claim's evidence becomes stale or void."""

    max_age_days: int = Field(default=365, ge=30, le=1100)
    keys: tuple[Literal["benchmark", "torch", "transformers", "driver"], ...] = ("benchmark", "torch", "transformers")


class MeasuredClaim(Statement):
    """A claim that sessions of one benchmark decide."""

    kind: Literal["measured"]
    benchmark: Name
    subject: Text
    """The arm that the claim says is better."""
    baseline: Text
    metric: Metric
    relation: Literal["better", "not_worse", "equal_within"] = "better"
    min_effect: float = Field(default=0.02, ge=0, le=10)
    """The smallest relative improvement that counts, for ``better``."""
    margin: float | None = Field(default=None, gt=0, le=1)
    """The largest relative difference that does not count, for the other relations."""
    blocks: int = Field(default=20, ge=10, le=100)
    """The number of blocks of a session, fixed before it runs."""
    tolerance: float | None = Field(default=None, ge=0, le=0.5)
    """The largest relative difference between the outputs of two arms that do the same work."""
    gives_up: GivesUp | None = None
    """The loss of quality of a subject that does not compute the same as the baseline; replaces ``tolerance``."""
    scope: Scope
    flips: tuple[Flip, ...] = ()
    """The places at which the verdict changes along the sweep; empty if it does not."""
    freshness: Freshness = Freshness()

    @model_validator(mode="after")
    def _margin_where_it_belongs(self) -> "MeasuredClaim":
        if (self.relation == "better") != (self.margin is None):
            raise ValueError("not_worse and equal_within need `margin`, and better has none; add or remove it")
        if self.subject == self.baseline:
            raise ValueError("subject and baseline are the same arm; name two different arms")
        if self.flips and self.scope.sweep is None:
            raise ValueError("a claim without a sweep cannot flip; remove flips")
        if (self.tolerance is None) == (self.gives_up is None):
            raise ValueError("a measured claim needs either `tolerance` or `gives_up`; add or remove one")
        return self

    @property
    def allowed(self) -> float:
        """The largest relative difference between outputs that is accepted."""
        return self.gives_up.at_most if self.gives_up else self.tolerance or 0.0


class Source(Record):
    """The source of a cited claim."""

    title: Text
    authors: Text
    year: int = Field(ge=1990, le=2100)
    type: Literal["paper", "vendor", "documentation", "web"]
    url: Url
    locator: Text
    """The place in the source: a section, a table, a page."""
    retrieved: IsoDate


class CitedFigure(Record):
    """One figure of a source, as a number and as printed."""

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
            message = f"the value {self.value:g} does not match the printed figure `{self.as_printed}`"
            raise ValueError(f"{message}; write the printed number, as 29 for `29%`")
        return self


class CitedClaim(Statement):
    """A claim that a source reports and this project did not measure."""

    kind: Literal["cited"]
    source: Source
    quote: Text
    """The words of the source, at most 25."""
    figures: tuple[CitedFigure, ...] = Field(min_length=1)
    in_brief: Text | None = None
    """The words that a table cell shows, at most twelve: what the figure measures. Without it, a cell has no figure."""
    hardware_as_stated: Text
    independence: Literal["author", "vendor", "independent"]

    @model_validator(mode="after")
    def _figures_stand_in_the_quote(self) -> "CitedClaim":
        words = len(self.quote.split())
        if words > 25:  # noqa: PLR2004 - the message gives the number
            raise ValueError(f"the quote has {words} words; quote at most 25")
        if len((self.in_brief or "").split()) > 12:  # noqa: PLR2004 - as above
            raise ValueError("in_brief has more than 12 words; shorten it to fit a table cell")
        for figure in self.figures:
            if figure.as_printed not in self.quote:
                message = f"the figure `{figure.as_printed}` does not occur in the quote"
                raise ValueError(f"{message}; quote the words that contain it")
        return self


Claim = Annotated[MeasuredClaim | CitedClaim | ReportedClaim | ModelledClaim, Field(discriminator="kind")]

"""Reported claims: one sentence each, which rows that somebody else published decide."""

from typing import Literal

from pydantic import Field, model_validator

from headroom.records.base import Record, Text
from headroom.records.claim_base import Statement

Relation = Literal["better", "not_worse", "equal_within", "worse"]


class ReportedMetric(Record):
    """The metric that a reported claim compares."""

    title: Text
    """Its name on pages, as `training throughput`."""
    better: Literal["lower", "higher"]
    counts: Text
    """What the source counts: padding, warm-up, which memory."""


class ReportedClaim(Statement):
    """A claim that published rows of somebody else decide. This project measured none of them."""

    kind: Literal["reported"]
    subject: Text
    baseline: Text
    metric: ReportedMetric
    relation: Relation = "better"
    """What the sentence says of the subject: that it is better, not worse, equal, or worse than the baseline."""
    min_effect: float = Field(default=0.02, ge=0, le=10)
    """The smallest relative difference that counts, for ``better`` and ``worse``."""
    margin: float | None = Field(default=None, gt=0, le=1)
    """The largest relative difference that does not count, for the other relations."""
    in_brief: Text | None = None
    """The words that a table cell shows after the figure, at most twelve."""

    @model_validator(mode="after")
    def _margin_where_it_belongs(self) -> "ReportedClaim":
        if (self.relation in ("better", "worse")) != (self.margin is None):
            raise ValueError("not_worse and equal_within need `margin`, better and worse have none; add or remove it")
        if self.subject == self.baseline:
            raise ValueError("subject and baseline are the same arm; name two different arms")
        if len((self.in_brief or "").split()) > 12:  # noqa: PLR2004 - the message gives the number
            raise ValueError("in_brief has more than 12 words; shorten it to fit a table cell")
        return self

"""Methods: techniques with their names, symptoms, guide sections, and claims about gains and costs."""

from typing import Literal, Self

from pydantic import Field, model_validator

from headroom.records.base import ClaimId, OldAddress, Record, Section, Slug, SnippetId, Text
from headroom.records.start_choices import Answers, Hardware

Effect = Literal["speed", "memory", "quality"]
"""The property of a training or inference run that a method changes."""


class Method(Record):
    """A technique with all its names."""

    id: Slug
    name: Text
    aliases: tuple[Text, ...] = ()
    """Other and older names, flags and functions."""
    symptoms: tuple[Text, ...] = Field(min_length=1)
    """Symptoms that the method fixes, including error messages."""
    section: Section
    """Its section: a page below docs/ and an anchor."""
    was: tuple[OldAddress, ...] = ()
    """Old addresses that redirect to its section: moved pages of this site, and guides that readers come from."""
    elsewhere: dict[Hardware, Section] = Field(default_factory=dict)
    """Its section on another page, for readers with that kind of hardware."""
    same_result: SnippetId | None = None
    """The snippet that proves that loss and gradients, or outputs, are the same up to rounding; null if they differ."""
    claims: dict[Effect, tuple[ClaimId, ...]]
    costs: tuple[ClaimId, ...] = ()
    """The claims in ``claims`` that state a cost: in them, the alternative to the method is better."""
    answers: Answers | None = None
    """The choices on the start page that lead to the method."""

    @model_validator(mode="after")
    def _costs_are_claims(self) -> Self:
        listed = {claim for claims in self.claims.values() for claim in claims}
        if unlisted := [claim for claim in self.costs if claim not in listed]:
            raise ValueError(f"`costs` lists `{unlisted[0]}`, and `claims` does not; add it to `claims` as well")
        return self

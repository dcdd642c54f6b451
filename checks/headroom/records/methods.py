"""Methods: what a reader searches for, and the claims that say what it gains and costs."""

from typing import Literal, Self

from pydantic import Field, model_validator

from headroom.records.base import ClaimId, OldAddress, Record, Section, Slug, SnippetId, Text
from headroom.records.start_choices import Answers, Hardware

Effect = Literal["speed", "memory", "quality"]
"""What a claim says that a method changes."""


class Method(Record):
    """One technique, under every name that it goes by."""

    id: Slug
    name: Text
    aliases: tuple[Text, ...] = ()
    """Other and older names, flags and functions."""
    symptoms: tuple[Text, ...] = Field(min_length=1)
    """What a reader sees who needs it, error messages among them."""
    section: Section
    """Its section: a page below docs/ and an anchor."""
    was: tuple[OldAddress, ...] = ()
    """Old addresses that lead to its section: of pages that we have moved, and of the guides that readers come from."""
    elsewhere: dict[Hardware, Section] = Field(default_factory=dict)
    """Its section for readers of a kind of hardware that another page is about."""
    same_result: SnippetId | None = None
    """The snippet that proves that loss and gradients, or the outputs, stay the same up to rounding, where they do."""
    claims: dict[Effect, tuple[ClaimId, ...]]
    costs: tuple[ClaimId, ...] = ()
    """Those of its claims that say what it costs: there it is the other side that is said to be better."""
    answers: Answers | None = None
    """Which choices of the start page lead to it."""

    @model_validator(mode="after")
    def _costs_are_claims(self) -> Self:
        listed = {claim for claims in self.claims.values() for claim in claims}
        if unlisted := [claim for claim in self.costs if claim not in listed]:
            raise ValueError(f"`costs` names `{unlisted[0]}`, which `claims` does not; list it there as well")
        return self

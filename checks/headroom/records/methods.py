"""Methods: techniques with their names, symptoms, guide sections, and claims about gains and costs."""

from typing import Literal, Self

from pydantic import Field, model_validator

from headroom.records.base import ClaimId, OldAddress, Record, Section, Slug, SnippetId, Text
from headroom.records.start_choices import Answers, Hardware

Effect = Literal["speed", "memory", "quality"]
"""The property of a training or inference run that a method changes."""


class StateBytes(Record):
    """The bytes per parameter of a method's weights, gradients and optimizer states, by its closed form."""

    weights: float = Field(ge=0, le=64)
    gradients: float = Field(ge=0, le=64)
    optimizer: float = Field(ge=0, le=64)
    of: Text
    """The formats that they are counted for, and what is left out."""

    @property
    def total(self) -> float:
        """Return their sum."""
        return self.weights + self.gradients + self.optimizer


class Variant(Record):
    """A form of a method with a row of its own in the table of all methods."""

    name: Text
    aliases: tuple[Text, ...] = ()
    """Which of the method's aliases name this form."""
    claims: tuple[ClaimId, ...] = ()
    """Which of the method's claims are about this form."""
    state_bytes: StateBytes | None = None
    """Its bytes per parameter; null if they depend on more than the number of parameters."""


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
    state_bytes: StateBytes | None = None
    """Its bytes per parameter; null if they depend on more than the number of parameters."""
    variants: tuple[Variant, ...] = ()
    """Its forms that are no method of their own. Claims that no variant lists are about the method itself."""

    @model_validator(mode="after")
    def _costs_are_claims(self) -> Self:
        listed = {claim for claims in self.claims.values() for claim in claims}
        if unlisted := [claim for claim in self.costs if claim not in listed]:
            raise ValueError(f"`costs` lists `{unlisted[0]}`, and `claims` does not; add it to `claims` as well")
        varied = (claim for variant in self.variants for claim in variant.claims)
        if unlisted := [claim for claim in varied if claim not in listed]:
            raise ValueError(f"a variant lists `{unlisted[0]}`, and `claims` does not; add it to `claims` as well")
        return self

"""Methods: what a reader searches for, and the claims that say what it gains and costs."""

from typing import Literal

from pydantic import Field

from headroom.records.base import ClaimId, OldAddress, Record, Section, Slug, SnippetId, Text


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
    same_result: SnippetId | None = None
    """The snippet that proves that loss and gradients, or the outputs, stay the same up to rounding, where they do."""
    claims: dict[Literal["speed", "memory", "quality"], tuple[ClaimId, ...]]

"""The glossary: what the words of the guides mean."""

from pydantic import Field

from headroom.records.base import OldAddress, Record, Section, Text


class Term(Record):
    """One word, or a few that go together, and what it means."""

    name: Text
    also: tuple[Text, ...] = ()
    """Other spellings, and what an abbreviation stands for."""
    means: Text
    """What it means, in two sentences at most."""
    see: tuple[Section, ...] = Field(default=(), max_length=3)
    """Where more is said of it: pages below docs/, with or without an anchor."""
    was: tuple[OldAddress, ...] = ()
    """Old addresses that lead to it, as long as no guide answers them."""

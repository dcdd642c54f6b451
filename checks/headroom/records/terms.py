"""Glossary terms: the words of the guides and their definitions."""

from pydantic import Field

from headroom.records.base import OldAddress, Record, Section, Text


class Term(Record):
    """A term of the glossary, one or more words, with its definition."""

    name: Text
    also: tuple[Text, ...] = ()
    """Other spellings, and the long form of an abbreviation."""
    means: Text
    """The definition, in at most two sentences."""
    see: tuple[Section, ...] = Field(default=(), max_length=3)
    """Further reading: pages below docs/, with or without an anchor."""
    was: tuple[OldAddress, ...] = ()
    """Old addresses that redirect to the term until a guide covers them."""

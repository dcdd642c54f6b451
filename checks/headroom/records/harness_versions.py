"""Versions of the harness that measure in the same way, as checks/facts/harness-versions.yml declares them."""

from typing import Annotated

from pydantic import Field

from headroom.records.base import Record, Text


class EquivalentVersions(Record):
    """A set of harness versions whose sessions count alike."""

    harness: Annotated[tuple[Text, ...], Field(min_length=2)]
    """Each as the sessions name it: the package version, then a hash of the modules that measure."""
    reason: Text
    """What changed, and why it does not change what is measured."""
    proof: Text
    """The path of a session of a program against itself that one of these versions measured."""


class HarnessVersions(Record):
    """All declared equivalences."""

    equivalent: tuple[EquivalentVersions, ...] = ()

    def same(self, one: str, other: str) -> bool:
        """Return whether two versions are equal or declared equivalent."""
        return one == other or any({one, other} <= {*group.harness} for group in self.equivalent)

"""Environments of snippets whose libraries do not fit the main one: their packages, pinned exactly."""

import json
from typing import Annotated

from pydantic import Field, StringConstraints

from headroom.io.safe_read import sha256
from headroom.records.base import HubName, Record, Slug, Text

Version = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)*$", max_length=30)]
PATH = "checks/facts/environments.yml"
MAKE = "make environments"
"""The command that builds them all."""


class Pin(Record):
    """The version of a package in an environment."""

    version: Version
    reason: Text
    """Why the environment has the package, in this version."""


class SnippetEnvironment(Record):
    """A virtual environment of its own, which ``make environments`` builds below ``.cache/environments/``."""

    reason: Text
    """Why the main environment does not serve."""
    packages: Annotated[dict[HubName, Pin], Field(min_length=1)]

    @property
    def requirements(self) -> list[str]:
        """The packages as pip takes them."""
        return [f"{name}=={pin.version}" for name, pin in self.packages.items()]

    @property
    def key(self) -> str:
        """A hash of the pins; an environment with another one is built again."""
        return sha256(json.dumps(sorted(self.requirements)))


Environments = dict[Slug, SnippetEnvironment]
"""The environments by name."""

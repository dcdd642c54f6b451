"""Parse the targets of ``claim:`` and ``fact:`` links."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, get_args

from headroom.io.strict_load import load_yaml
from headroom.records.base import Value
from headroom.records.modelled_claims import FigureName

METHODS: Final = "methods:"
"""The scheme of an empty link that is replaced by the table of a guide's methods."""
RANGES: Final = ("ratio-low", "ratio-high")
"""The ends of a reported ratio's range."""
FIGURES: Final = (*get_args(FigureName), "value", *RANGES)

_CLAIM = re.compile(
    r"^claim:(?P<claim>[a-z0-9.-]+)(#(?P<figure>[a-z]+(?:-[a-z]+)?)(@(?P<class>[a-z0-9-]+))?(,(?P<point>.+))?)?$"
)
_FACT = re.compile(r"^fact:(?P<sheet>[a-z0-9-]+)\.(?P<figure>[a-z][a-z0-9_]*)$")
_AXIS = re.compile(r"^(?P<name>[a-z][a-z0-9_]*)=(?P<value>[A-Za-z0-9._-]+)$")


def in_family(page: str, of: str) -> bool:
    """Return whether a page is ``of`` (``training/single-gpu.md``) or in its folder (``training/single-gpu/``)."""
    return page == of or page.startswith(f"{of.rpartition('.')[0]}/")


@dataclass(frozen=True, slots=True)
class ClaimTarget:
    """``claim:ID``, or one figure of it: ``claim:ID#ratio@h200,batch_size=8``, ``claim:ID#value,layers=32``.

    A figure of a reported claim may name a published comparison in place of the class: ``claim:ID#ratio@fms-lora``.
    """

    claim: str
    figure: str | None = None
    hardware_class: str | None = None
    point: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FactTarget:
    """``fact:SHEET.FIGURE``."""

    sheet: str
    figure: str


def parse_target(href: str) -> ClaimTarget | FactTarget:
    """Return the target of a ``claim:`` or ``fact:`` link.

    Raises:
        ValueError: the link has another form; the message says which form it should have.
    """
    if match := _FACT.match(href):
        return FactTarget(match["sheet"], match["figure"])
    match = _CLAIM.match(href)
    if match is None:
        raise ValueError(
            f"`{href}` is no claim:ID, claim:ID#FIGURE@CLASS[,AXIS=VALUE], claim:ID#value[,NAME=VALUE] "
            "or fact:SHEET.FIGURE"
        )
    if match["figure"] and match["figure"] not in FIGURES:
        raise ValueError(f"`#{match['figure']}` is no figure; use one of {', '.join(FIGURES)}")
    if match["figure"] == "value" and match["class"]:
        raise ValueError("`#value` takes no hardware class; remove it")
    return ClaimTarget(match["claim"], match["figure"], match["class"], _point(match["point"]))


@lru_cache(maxsize=1024)
def _value(text: str) -> Value:
    value: Value = load_yaml(text).value
    return value


def _point(text: str | None) -> dict[str, Value]:
    point: dict[str, Value] = {}
    for part in (text or "").split(",") if text else ():
        axis = _AXIS.match(part)
        if axis is None:
            raise ValueError(f"`{part}` is no AXIS=VALUE")
        point[axis["name"]] = _value(axis["value"])
    return point

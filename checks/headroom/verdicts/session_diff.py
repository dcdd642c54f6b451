"""List how two sessions differ apart from their samples: harness, day, machine, its state, and versions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headroom.records.evidence import Environment, Head

_NO_CPU_HAS = ("power_limit_w", "driver")
_NAMES = {"power_limit_w": "power limit", "memory_bytes": "memory", "load_before": "load before"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which two sessions differ, with both values as text."""

    what: str
    here: str
    there: str


def differences(here: Head, there: Head) -> Iterator[Difference]:
    """Yield the differences, in the order of the evidence's fields, each version separately."""
    ours, theirs = _fields(here), _fields(there)
    for name in {**ours, **theirs}:
        pair = (ours.get(name, "not installed"), theirs.get(name, "not installed"))
        if pair[0] != pair[1]:
            yield Difference(_NAMES.get(name, name.replace("_", " ")), *pair)


def unknown(here: Head, there: Head) -> tuple[str, ...]:
    """Return the fields that are unknown for both machines, so that they may differ as well."""
    return tuple(name for name in here.environment.unknown if name in there.environment.unknown)


def _fields(head: Head) -> dict[str, str]:
    fields: dict[str, Any] = head.environment.model_dump(exclude={"unknown"})
    versions: dict[str, str] = fields.pop("versions")
    return {
        "date": head.date,
        "harness": head.harness,
        **{name: _text(name, value, head.environment) for name, value in fields.items()},
        **versions,
    }


def _text(name: str, value: object, environment: Environment) -> str:
    """Format a value for readers."""
    if value is None:
        return "none" if environment.device == "cpu" and name in _NO_CPU_HAS else "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    if name == "memory_bytes":
        return f"{environment.memory_bytes / 2**30:.1f} GiB"
    if name == "power_limit_w":
        return f"{value} W"
    return f"{value:.1f}" if isinstance(value, float) else str(value)

"""Hold a manifest to the fields of its definition: what is unknown, missing or of another type."""

from typing import Any

TYPES = {"string": str, "integer": int, "boolean": bool, "quantities": dict, "labels": dict}


def faults(value: Any, wanted: Any, place: str = "manifest") -> list[str]:
    """Return what a manifest has that its fields do not allow, and what it lacks."""
    if isinstance(wanted, str):
        kind = TYPES.get(wanted)
        good = isinstance(value, kind) if kind else value == wanted
        return [] if good else [f"{place} is not {wanted}"]
    if isinstance(wanted, list):
        rows = value if isinstance(value, list) else [None]
        return [fault for number, row in enumerate(rows) for fault in faults(row, wanted[0], f"{place}[{number}]")]
    if not isinstance(value, dict):
        return [f"{place} is not an object"]
    fields = {name.removesuffix("!"): each for name, each in wanted.items()}
    found = [f"{place} lacks {name[:-1]}" for name in wanted if name.endswith("!") and name[:-1] not in value]
    for name, each in value.items():
        path = f"{place}.{name}"
        found += faults(each, fields[name], path) if name in fields else [f"{path} is unknown"]
    return found

"""The JSON Schemas of the records are the ones in tests/schemas.yml, and validators accept and refuse the right values.

The file has every field, type, default and bound, without titles and descriptions. After an intended change of a
record, run `python tests/test_schemas.py` and review the difference in git.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from headroom.records import base, claims, facts
from headroom.records.metrics import METRICS
from headroom.records.schemas import schemas

SNAPSHOT = Path(__file__).parent / "schemas.yml"


def bare(value: Any) -> Any:
    """Return a schema without its titles and descriptions; a field may have these names."""
    if isinstance(value, list):
        return [bare(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: bare(each)
        for key, each in value.items()
        if not (key in ("title", "description") and isinstance(each, str))
    }


def snapshot() -> str:
    """Return the schemas as YAML, one line per field."""
    return yaml.safe_dump(bare(schemas()), default_flow_style=None, width=1000, allow_unicode=True)


def test_schemas_are_the_recorded_ones() -> None:
    """A bound, a default or a field changes only together with the snapshot."""
    recorded = yaml.safe_load(SNAPSHOT.read_text("utf-8"))
    assert bare(schemas()) == recorded, "run `python tests/test_schemas.py` and review the difference in git"


def test_schema_describes_each_field() -> None:
    """A schema describes its own fields, those of its parts, inherited fields and fields with an alias."""
    found = schemas()
    evidence = found["evidence"]
    assert (
        evidence["$defs"]["Run"]["properties"]["position"]["description"]
        == "The index of the run in the order of its block."
    )
    assert evidence["properties"]["units"]["description"] == "The unit of each metric's samples."
    assert found["claims-file"]["properties"]["$schema"]["description"].startswith("The path of the JSON Schema")
    assert "description" not in evidence["$defs"]["Run"]["properties"]["arm"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (base.Text, "  "),
        (base.Text, "\x1b[2J"),
        (base.Text, "a\u202eb"),
        (base.Slug, "a\n"),
        (base.IsoDate, "2026-11-31"),
        (base.IsoDate, "2025-02-29"),
        (base.IsoTime, "24:00:00"),
    ],
)
def test_invalid_value_of_the_right_pattern_is_refused(kind: Any, text: str) -> None:
    """Blank text, invisible characters, trailing newlines, and days and times that do not exist."""
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(text)


@pytest.mark.parametrize(
    ("kind", "text"), [(base.Text, "two\nlines"), (base.IsoDate, "2024-02-29"), (base.IsoTime, "23:59:59")]
)
def test_unusual_valid_value_is_accepted(kind: Any, text: str) -> None:
    """Line ends, leap days and the last second of a day."""
    assert TypeAdapter(kind).validate_python(text) == text


def test_text_is_stripped() -> None:
    """Blanks around a text are removed."""
    assert TypeAdapter(base.Text).validate_python(" a b ") == "a b"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_number_is_finite(value: float) -> None:
    """JSON Schema cannot express this."""
    with pytest.raises(ValidationError, match="finite"):
        facts.FactCell(value=value, unit="GB", source="here")


def test_record_is_frozen() -> None:
    """Code cannot change a record."""
    record = claims.Freshness()
    with pytest.raises(ValidationError, match="frozen"):
        record.max_age_days = 1000


def test_each_metric_has_its_unit_direction_and_exactness() -> None:
    """Times vary and are better lower, throughput is better higher, bytes that torch counts are exact."""
    assert {name: (kind.unit, kind.better, kind.exact) for name, kind in METRICS.items()} == {
        "step_time": ("s", "lower", False),
        "first_step_time": ("s", "lower", False),
        "throughput": ("tokens/s", "higher", False),
        "saved_for_backward": ("B", "lower", True),
        "peak_allocated": ("B", "lower", True),
        "peak_reserved": ("B", "lower", True),
        "peak_rss": ("B", "lower", False),
        "bytes_sent": ("B", "lower", True),
        "collectives": ("1", "lower", True),
        "wire_bytes": ("B", "lower", True),
    }
    assert all(kind.title and kind.meaning.endswith(".") for kind in METRICS.values())


if __name__ == "__main__":
    SNAPSHOT.write_text(snapshot(), "utf-8")

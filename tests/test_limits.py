"""What a field of a record may hold: the last value that is taken on each side, and the first that is not."""

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from headroom.records import base, claims, evidence, facts, machines, methods, snippets
from headroom.records.metrics import METRICS
from headroom.records.schemas import schemas

# Field: what it takes, and what it does not.
NUMBERS: dict[tuple[type[base.Record], str], tuple[tuple[float, ...], tuple[float, ...]]] = {
    (claims.Freshness, "max_age_days"): ((30, 1100), (29, 1101)),
    (claims.MeasuredClaim, "min_effect"): ((0, 10), (-0.001, 10.001)),
    (claims.MeasuredClaim, "margin"): ((0.001, 1), (0, 1.001)),
    (claims.MeasuredClaim, "blocks"): ((10, 100), (9, 101)),
    (claims.MeasuredClaim, "tolerance"): ((0, 0.5), (-0.001, 0.501)),
    (claims.Source, "year"): ((1990, 2100), (1989, 2101)),
    (evidence.Environment, "memory_bytes"): ((1,), (0,)),
    (evidence.Environment, "cores"): ((1,), (0,)),
    (evidence.Environment, "threads"): ((1,), (0,)),
    (evidence.Environment, "load_before"): ((0,), (-0.001,)),
    (evidence.Design, "blocks"): ((1,), (0,)),
    (evidence.Design, "warmup_steps"): ((0,), (-1,)),
    (evidence.Design, "timed_steps"): ((1,), (0,)),
    (evidence.Run, "block"): ((0,), (-1,)),
    (evidence.Run, "position"): ((0,), (-1,)),
    (evidence.Run, "others_cpu"): ((0, 1), (-0.001, 1.001)),
    (machines.Machine, "others_cpu"): ((0, 1), (-0.001, 1.001)),
    (evidence.Failure, "block"): ((0,), (-1,)),
    (evidence.Failure, "position"): ((0,), (-1,)),
    (facts.HardwareClass, "peak_flops"): ((0.001,), (0,)),
    (snippets.Header, "timeout"): ((1, 600), (0, 601)),
    (snippets.AblationRun, "seconds"): ((0.001,), (0,)),
    (snippets.SnippetRun, "seconds"): ((0.001,), (0,)),
    (snippets.SnippetRun, "peak_memory_bytes"): ((1,), (0,)),
}
LISTS: dict[tuple[type[base.Record], str], str] = {
    (claims.Scope, "hardware"): "cpu",
    (claims.Statement, "not_claimed"): "that",
    (methods.Method, "symptoms"): "slow",
}
# Form: what fits, what does not, and how long it may be.
FORMS: dict[str, tuple[Any, list[str], list[str], int | None]] = {
    "text": (base.Text, ["x", "Two words.", "two\nlines"], ["", "  ", "\x1b[2J", "a\u202eb"], 600),
    "slug": (base.Slug, ["a", "a-1", "1-a-b"], ["", "A", "-a", "a-", "a--b", "a_b", "a.b"], 60),
    "claim": (base.ClaimId, ["a.b", "a-1.b-2.c"], ["a", "a.", ".b", "a..b", "A.b", "a.b_c"], 120),
    "name": (base.Name, ["a", "a_1"], ["", "_a", "1a", "A", "a-b"], 60),
    "hash": (base.Sha256, ["0af" + "9" * 61], ["0" * 63, "0" * 65, "G" + "0" * 63, "A" + "0" * 63], None),
    "day": (base.IsoDate, ["2026-11-21", "2024-02-29"], ["2014-12-31", "2026-11-31", "2026-2-1", "21.11.2026"], None),
    "address": (base.Url, ["https://a.org/b?c=d#e"], ["http://a.org", "https://", "https://a b", "https://<a>"], 300),
    "page": (base.PagePath, ["a.md", "a/b-c_1.ipynb"], ["a", "a.html", "../a.md", "/a.md", "a/.md", "a.md#b"], 120),
    "section": (base.Section, ["a.md", "a/b.md#c-1"], ["a", "a.md#", "a.md#b c", "../a.md#b"], 180),
    "snippet": (base.SnippetId, ["a", "a/b_c"], ["", "/a", "a/", "a//b", "a.py", "../a"], 120),
    "model": (base.HubName, ["gpt2", "openai-community/gpt2", "a.b/c.d"], ["", "/a", "a/b/c", "../a", ".a/b"], 120),
    "need": (snippets.Need, ["cuda", "cuda:2", "amx", "avx512_bf16", "bf16"], ["cuda:0", "cuda:10", "tpu"], None),
    "launch": (
        snippets.Launch, ["python", "torchrun --nproc-per-node 2"], ["sh", "torchrun --nproc-per-node 0"], None,
    ),
}  # fmt: skip


def takes(kind: Any, value: object) -> bool:
    """Whether a type takes a value."""
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


def of(record: type[base.Record], name: str) -> Any:
    """The type of a field, with its limits."""
    info = record.model_fields[name]
    return Annotated[info.annotation, info]  # type: ignore[valid-type]


@pytest.mark.parametrize("field", NUMBERS, ids=lambda field: f"{field[0].__name__}.{field[1]}")
def test_a_number_has_limits(field: tuple[type[base.Record], str]) -> None:
    """What lies on a limit is taken, what lies beyond it is not."""
    taken, refused = NUMBERS[field]
    assert [value for value in (*taken, *refused) if takes(of(*field), value)] == [*taken]


@pytest.mark.parametrize("field", LISTS, ids=lambda field: f"{field[0].__name__}.{field[1]}")
def test_a_list_is_not_empty(field: tuple[type[base.Record], str]) -> None:
    """One entry is enough."""
    assert takes(of(*field), (LISTS[field],))
    assert not takes(of(*field), ())


def test_a_grid_has_two_to_sixteen_points() -> None:
    """One is no sweep, and more are too many to share the error."""
    kind = of(claims.Sweep, "grid")
    assert [length for length in range(1, 19) if takes(kind, tuple(range(length)))] == [*range(2, 17)]


def test_a_cited_claim_has_a_figure() -> None:
    """It would say nothing else."""
    figure = {"name": "speed", "value": 2.0, "unit": "×", "as_printed": "2.0x"}
    assert takes(of(claims.CitedClaim, "figures"), (figure,))
    assert not takes(of(claims.CitedClaim, "figures"), ())


@pytest.mark.parametrize("name", FORMS)
def test_a_text_has_a_form(name: str) -> None:
    """The whole of it fits, and it is not too long."""
    kind, fitting, others, longest = FORMS[name]
    assert [text for text in (*fitting, *others) if takes(kind, text)] == fitting
    if longest:
        text = fitting[0] + fitting[0][-1] * (longest - len(fitting[0])) if name not in ("page", "section") else ""
        text = text or "a" * (longest - 3) + ".md"
        assert takes(kind, text)
        assert not takes(kind, "a" + text)


def test_text_is_without_blanks_around_it() -> None:
    """They would count as a difference."""
    assert TypeAdapter(base.Text).validate_python(" a b ") == "a b"


def test_what_is_not_said_is_the_usual() -> None:
    """The defaults that docs/contribute/records.md and statistics.md lean on."""
    usual = {name: field.default for name, field in claims.MeasuredClaim.model_fields.items()}
    assert {name: usual[name] for name in ("relation", "min_effect", "margin", "blocks", "flips", "retired")} == {
        "relation": "better", "min_effect": 0.02, "margin": None, "blocks": 20, "flips": (), "retired": None,
    }  # fmt: skip
    assert claims.Freshness() == claims.Freshness(max_age_days=365, keys=("benchmark", "torch", "transformers"))
    header = snippets.Header(no_ablation="none")
    assert (header.launch, header.timeout, header.needs, header.models) == ("python", 60, (), ())


def test_a_record_does_not_change() -> None:
    """Nobody who holds one can make it say something else."""
    record = claims.Freshness()
    with pytest.raises(ValidationError, match="frozen"):
        record.max_age_days = 1000


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_is_finite(value: float) -> None:
    """Nothing can be compared with what is not."""
    with pytest.raises(ValidationError, match="finite"):
        facts.FactCell(value=value, unit="GB", source="here")


def test_every_kind_of_record_has_a_schema_in_which_every_field_has_its_form() -> None:
    """Editors complete and check what people write by them."""
    found = schemas()
    assert set(found) == {
        "claim", "evidence", "facts", "hardware-classes", "machine", "method", "run", "snippet-header", "stand-ins",
        "claims-file", "one-claim-file", "glossary",
    }  # fmt: skip
    assert found["evidence"]["additionalProperties"] is False
    assert found["run"]["properties"]["seconds"]["exclusiveMinimum"] == 0
    assert "passed" in str(found["run"]["properties"]["outcome"])


def test_a_schema_says_what_each_field_means() -> None:
    """Its own fields, those of its parts, those that it has from a more general record, and one of another name."""
    found = schemas()
    evidence = found["evidence"]
    assert evidence["$defs"]["Run"]["properties"]["position"]["description"] == "Its place in the order of its block."
    assert evidence["properties"]["units"]["description"] == "The unit of each metric's samples."
    assert found["claims-file"]["properties"]["$schema"]["description"].startswith("The path of the JSON Schema")
    assert "description" not in evidence["$defs"]["Run"]["properties"]["arm"]


def test_each_metric_has_its_unit_direction_and_whether_it_is_exact() -> None:
    """Times vary and are better lower, a throughput is better higher, bytes that torch counts are exact."""
    assert {name: (kind.unit, kind.better, kind.exact) for name, kind in METRICS.items()} == {
        "step_time": ("s", "lower", False),
        "first_step_time": ("s", "lower", False),
        "throughput": ("tokens/s", "higher", False),
        "saved_for_backward": ("B", "lower", True),
        "peak_allocated": ("B", "lower", True),
        "peak_reserved": ("B", "lower", True),
        "peak_rss": ("B", "lower", False),
    }
    assert all(kind.title and kind.meaning.endswith(".") for kind in METRICS.values())

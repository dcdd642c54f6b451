"""Edge cases of records: the text of problems, properties of fields, and the stability of old evidence."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from factories import (
    CITED,
    CLASSES,
    H200,
    MACHINE,
    a_claim,
    a_run_record,
    a_session,
    a_sweep,
    edited,
    write,
    write_tree,
)
from faults import CLAIM, CLAIM_TEXT, FAULTS, METHOD, RUN, make
from headroom.io.safe_read import MAX_JSON_BYTES, MAX_TEXT_BYTES, UnreadableError, sha256
from headroom.records import Problem, claims, facts, load
from headroom.records.base import Record
from headroom.records.evidence import Design, Environment, Evidence, Failure, Run, Slot, block_order, place
from headroom.records.paths import evidence_text, session_path
from headroom.records.snippets import header_table

CLEAN = Path(__file__).parent / "rule_cases" / "clean"

GPU = {**H200, "instruction_sets": ()}


def takes(kind: Any, value: object) -> bool:
    """Return whether a type accepts a value."""
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


class TestProblem:
    """The text of a problem."""

    def test_is_one_printable_line_of_limited_length(self) -> None:
        """Control characters of a quoted file are escaped."""
        line = str(Problem("a\u202e.yml", 3, "claims", "scope.at", "two\n  lines \x1b[2J", "fix it"))
        assert line == "a\\u202e.yml:3: claims: `scope.at`: two lines \\x1b[2J; fix it"
        assert str(Problem("a.yml", None, "claims", "", "wrong", "fix it")) == "a.yml: claims: wrong; fix it"
        long = str(Problem("a.yml", 1, "claims", "", "m" * 5000, "r" * 5000))
        assert long == f"a.yml:1: claims: {'m' * 1000}; {'r' * 1000}"

    @pytest.mark.parametrize(
        ("fault", "message", "remedy"),
        [
            ("unknown key", "unknown key", "remove it, or correct its spelling"),
            ("missing key", "missing", "add it"),
            ("unknown metric", "unknown metric `speed`", "use one of step_time, first_step_time, throughput"),
            ("bad id", "String should match pattern", "write a text that matches"),
            (
                "unknown relation",
                "Input should be 'better', 'not_worse' or 'equal_within'",
                "use one of these values",
            ),
            ("nine blocks", "Input should be greater than or equal to 10", "correct the value"),
            ("no kind", "the key `kind` is missing", "add it"),
        ],
    )
    def test_has_message_and_remedy(self, tmp_path: Path, fault: str, message: str, remedy: str) -> None:
        """The message of the validator, or else of the schema."""
        FAULTS[fault].do(make(tmp_path))
        (problem,) = load(tmp_path).problems
        assert problem.message.startswith(message)
        assert problem.remedy.startswith(remedy)

    def test_twenty_per_record_are_reported_and_the_rest_is_counted(self, tmp_path: Path) -> None:
        """Exactly twenty are all reported."""
        for extra, more in ((20, []), (21, ["more problems: 1"]), (25, ["more problems: 5"])):
            make(tmp_path)
            with (tmp_path / METHOD).open("a", encoding="utf-8") as file:
                file.writelines(f"x{i}: 1\n" for i in range(extra))
            found = [problem.message for problem in load(tmp_path).problems]
            assert sorted(found, key=len) == sorted(["unknown key"] * min(extra, 20) + more, key=len)


class TestClaims:
    @pytest.mark.parametrize(
        ("bound", "points"),
        [(None, [1, 2, 4, 8]), ("batch_size >= 4", [4, 8]), ("batch_size <= 2", [1, 2]), ("batch_size <= 2.5", [1, 2])],
    )
    def test_bound_selects_the_asserted_points(self, bound: str | None, points: list[int]) -> None:
        """The bound itself is asserted; without a bound, all points are."""
        scope = a_claim(scope=a_sweep(1, 2, 4, 8, holds_for=bound)).scope
        assert [point["batch_size"] for point in scope.points if scope.asserted(point) is True] == points

    @pytest.mark.parametrize(("field", "words"), [("quote", 25), ("in_brief", 12)])
    def test_quotes_are_limited_in_length(self, field: str, words: int) -> None:
        """The limit is accepted, and one word more is not."""
        texts = ["2.0x" + " word" * number for number in (words - 1, words)]
        assert [takes(claims.CitedClaim, {**CITED, field: text}) for text in texts] == [True, False]

    def test_every_figure_occurs_in_the_quote(self) -> None:
        """In its printed form."""
        figure = CITED["figures"][0]
        for printed, value, fits in (("2.0x", 2.0, True), ("8 A100", 8.0, True), ("2x", 2.0, False)):
            more = {**figure, "as_printed": printed, "value": value}
            assert takes(claims.CitedClaim, {**CITED, "figures": [figure, more]}) == fits


@pytest.mark.parametrize("failed", [0, 2])
def test_session_counts_the_keys_of_its_file(failed: int) -> None:
    """A file with more keys has a duplicate."""

    def edit(data: dict[str, Any]) -> None:
        runs = data["runs"][:failed]
        data["runs"] = [{**run, "samples": {**run["samples"], "throughput": [1.0]}} for run in data["runs"][failed:]]
        names = ("block", "position", "arm", "control", "point")
        data["failures"] = [{**{name: run[name] for name in names}, "reason": "died"} for run in runs]

    session = edited(a_session(a_claim(scope=a_sweep(1, 8)), blocks=2), edit)
    assert session.keys() == _keys(json.loads(evidence_text(session)))


@pytest.mark.parametrize("model", [Evidence, Environment, Design, Run, Failure])
def test_optional_fields_of_a_session_default_to_none(model: type[Record]) -> None:
    """Fields that older sessions lack are unknown there."""
    newer = {"others_cpu", "benchmark_seconds", "time"}
    assert {name for name, field in model.model_fields.items() if not field.is_required()} <= newer
    assert all(model.model_fields[name].default is None for name in newer & model.model_fields.keys())


def test_missing_optional_key_does_not_hide_a_duplicate() -> None:
    """Keys are counted as written, and a session round-trips unchanged."""
    old = a_session(a_claim(), blocks=2)
    new = Evidence.model_validate_json(
        evidence_text(old).replace('"throttled": []}', '"throttled": [], "others_cpu": null}', 1)
    )
    assert (new.keys(), "others_cpu" in evidence_text(old)) == (old.keys() + 1, False)
    assert evidence_text(new).count("others_cpu") == 1
    assert (
        Evidence.model_validate_json(evidence_text(new)).keys() == new.keys() == _keys(json.loads(evidence_text(new)))
    )


@pytest.mark.parametrize("time", [None, "null", '"17:56:35"'])
def test_optional_time_is_counted_only_if_present(tmp_path: Path, time: str | None) -> None:
    """Duplicate keys are refused with and without it, and old evidence keeps its bytes and name."""
    session = a_session(a_claim(), blocks=1)
    text = evidence_text(session)
    assert '"time"' not in text
    if time:
        text = text.replace(' "units"', f' "time": {time},\n "units"', 1)
    path = write(write_tree(tmp_path, [a_claim()]) / session_path(session, sha256(text)), text)
    (read,) = load(tmp_path).sessions
    assert (read.head.time, read.evidence.keys()) == (json.loads(time or "null"), _keys(json.loads(text)))
    path.unlink()
    twice = text.replace(' "units"', ' "harness": "another",\n "units"', 1)
    write(tmp_path / session_path(session, sha256(twice)), twice)
    (problem,) = load(tmp_path).problems
    assert "twice" in problem.message


@pytest.mark.parametrize("time", ["24:00:00", "1:02:03", "12:60:00", "12:00", "12:00:00Z", ""])
def test_invalid_time_of_day_is_refused(time: str) -> None:
    """Times are HH:MM:SS."""
    with pytest.raises(ValueError, match="time"):
        a_session(a_claim(), blocks=1, time=time)


def _keys(value: object) -> int:
    """Return the number of keys in a JSON value, at any depth."""
    if isinstance(value, list):
        return sum(map(_keys, value))
    return sum(1 + _keys(each) for each in value.values()) if isinstance(value, dict) else 0


def test_place_does_not_depend_on_the_order_of_axes() -> None:
    """With one axis, two and more; another value gives another place."""
    for names in ("a", "ab", "cab", "dbca"):
        point = {name: ord(name) for name in names}
        assert place(point) == place(dict(sorted(point.items()))) == tuple(sorted(point.items()))
        assert place(point) != place({**point, names[0]: 0})
    assert place({}) == ()


def test_block_order_is_stable_for_a_seed() -> None:
    """In any order of the slots: old evidence is checked against it."""
    arms = (("plain", False), ("clever", False), ("plain", True))
    slots = [Slot(arm, control, (("n", n),)) for n in (8, 16) for arm, control in arms]
    for given in (slots, slots[::-1]):
        orders = [[(s.arm, s.control, s.point[0][1]) for s in block_order(given, 3, block)] for block in (0, 1)]
        assert orders == [
            [
                ("plain", True, 16), ("clever", False, 8), ("plain", False, 16),
                ("clever", False, 16), ("plain", True, 8), ("plain", False, 8),
            ],
            [
                ("clever", False, 8), ("plain", False, 8), ("clever", False, 16),
                ("plain", False, 16), ("plain", True, 8), ("plain", True, 16),
            ],
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "held"),
    [
        ({}, True),
        ({"device": "cpu"}, False),
        ({"product": "NVIDIA H100"}, False),
        ({"power_limit_w": 600.0}, False),
        ({"threads": 7, "instruction_sets": ("amx",)}, True),
    ],
)
def test_gpu_class_depends_on_product_and_power_limit(change: dict[str, Any], held: bool) -> None:  # noqa: FBT001
    """The host does not matter."""
    assert facts.HardwareClass.model_validate(CLASSES["h200"]).holds(replace(MACHINE, **{**GPU, **change})) == held


@pytest.mark.parametrize(
    ("change", "held"),
    [
        ({}, True),
        ({"device": "cuda"}, False),
        ({"threads": 2}, False),
        ({"instruction_sets": ("avx512_bf16",)}, True),
        ({"instruction_sets": ("avx2",)}, False),
        ({"instruction_sets": ("avx512_bf16", "amx_bf16")}, False),
        ({"product": "Another Xeon", "power_limit_w": 100.0}, True),
    ],
)
def test_cpu_class_depends_on_instruction_sets_and_threads(change: dict[str, Any], held: bool) -> None:  # noqa: FBT001
    """It has the required sets and none of the excluded ones; the product does not matter."""
    assert facts.HardwareClass.model_validate(CLASSES["cpu"]).holds(replace(MACHINE, **change)) == held


def test_figure_has_a_known_unit() -> None:
    """An unknown unit is refused."""
    figure = {"value": 141, "unit": "GB", "source": "here"}
    assert facts.FactCell.model_validate(figure).unit == "GB"
    assert not takes(facts.FactCell, {**figure, "unit": "stone"})


def test_session_text_keeps_non_ascii_letters() -> None:
    """Diffs stay readable."""

    def edit(data: dict[str, Any]) -> None:
        data["environment"]["product"] = "Zéon®"
        data["runs"][0]["arm"] = "plaîn"

    text = evidence_text(edited(a_session(a_claim(), blocks=1), edit))
    assert "Zéon®" in text
    assert "plaîn" in text
    assert text.endswith("\n ]\n}\n")
    assert len([line for line in text.splitlines() if line.startswith("  {")]) == 3


def test_json_has_a_larger_size_limit(tmp_path: Path) -> None:
    """Evidence files are larger than other files."""
    make(tmp_path)
    for blanks, messages in ((MAX_TEXT_BYTES, []), (MAX_JSON_BYTES, [f"larger than {MAX_JSON_BYTES} bytes"])):
        write(tmp_path / RUN, a_run_record() + " " * blanks)
        assert [problem.message for problem in load(tmp_path).problems] == messages


def test_duplicate_key_in_evidence_is_reported(tmp_path: Path) -> None:
    """The parser would use the second, while a reviewer may read the first."""
    (path,) = (make(tmp_path) / "checks/evidence").rglob("*.json")
    path.write_text(path.read_text("utf-8").replace('"harness"', '"harness": "0.0.9",\n "harness"'), "utf-8")
    (problem,) = load(tmp_path).problems
    assert problem.message == "the key `harness` occurs twice"


class TestHeader:
    def test_content_is_the_text_after_the_comment_marks(self) -> None:
        """One blank after each mark is removed, and a bare mark is an empty line."""
        source = '\n# /// script\n# dependencies = ["torch"]\n#\n# [tool]\n# a = """\n#   b\n#\n# c"""\n# ///\n'
        assert header_table(source) == ({"dependencies": ["torch"], "tool": {"a": "  b\n\nc"}}, 2)

    @pytest.mark.parametrize("dependencies", ['"torch"', '["torch", 1]', '[["torch"]]', "{a = 1}"])
    def test_dependencies_are_a_list_of_strings(self, dependencies: str) -> None:
        """The installer needs this form."""
        with pytest.raises(UnreadableError, match="dependencies"):
            header_table(f"# /// script\n# dependencies = {dependencies}\n# ///\n")

    @pytest.mark.parametrize("tool", ["tool = 1", "[tool]\n# headroom = 1", "tool = []"])
    def test_tool_table_is_a_table(self, tool: str) -> None:
        """It may be absent."""
        with pytest.raises(UnreadableError, match="not a table"):
            header_table(f"# /// script\n# {tool}\n# ///\n")
        assert header_table("# /// script\n# a = 1\n# ///\n") == ({"a": 1}, 1)

    def test_command_uses_the_launcher_of_the_header(self) -> None:
        """Python itself is not part of the command."""
        found = load(CLEAN).snippets
        assert found["training/multi"].command == "uv run torchrun --nproc-per-node 2 snippets/training/multi.py"
        assert found["training/clever"].command == "uv run snippets/training/clever.py"
        assert found["training/multi"].dependencies == ("torch",)

    def test_ablation_leaves_the_header_unchanged(self) -> None:
        """Only the body below it changes."""
        snippet = load(CLEAN).snippets["training/clever"]
        assert '"@cache" = ""' in snippet.ablated()
        assert "\n@cache\n" in snippet.source
        assert "\n@cache\n" not in snippet.ablated()


@pytest.mark.parametrize("name", ["aaa.yml", "zzz.yml"])
def test_of_two_files_with_one_claim_the_correctly_named_one_counts(tmp_path: Path, name: str) -> None:
    """In any order of reading; a claim only in a wrongly named file is still loaded."""
    make(tmp_path)
    other = CLAIM_TEXT.replace("A clever step takes", "A cleverer step takes")
    write(tmp_path / "checks/registry/training" / name, other)
    tree = load(tmp_path)
    assert [problem.path for problem in tree.problems] == [f"checks/registry/training/{name}"]
    assert tree.claims["training.clever"].statement.startswith("A clever step")
    assert tree.claim_paths["training.clever"] == CLAIM
    (tmp_path / CLAIM).unlink()
    alone = load(tmp_path)
    assert alone.claims["training.clever"].statement.startswith("A cleverer step")
    assert alone.claim_paths["training.clever"] == f"checks/registry/training/{name}"

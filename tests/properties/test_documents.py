"""Property tests of loading YAML, JSON and records."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from headroom import records
from headroom.io.safe_read import HIDDEN, UnreadableError
from headroom.io.strict_load import MAX_DEPTH, load_json, load_yaml
from headroom.records import paths
from hostile.loaders import CLEAN, LOADERS

KEYS = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=8).filter(str.isprintable)
NUMBERS = st.one_of(
    st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False), st.none()
)
TEXTS = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=20)
VALUES = st.recursive(
    NUMBERS | TEXTS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
MARKS = st.sampled_from(
    [*"{}[]:,#&*!|>'\"%@`-? \n\t", "- ", ": ", "\n  ", "---\n", "...\n", "!!", "<<", "1", "e", ".", "\\u", "0x", "é"]
)
TEXT = st.one_of(st.text(max_size=60), st.lists(MARKS, max_size=40).map("".join))


def same(left: Any, right: Any) -> bool:
    """Return whether two values are equal and of equal types throughout."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and bool(left == right)


class TestDocuments:
    @given(VALUES)
    def test_json_round_trips(self, value: Any) -> None:
        assert same(load_json(json.dumps(value)).value, value)
        assert same(load_json(json.dumps(value, ensure_ascii=False, indent=1)).value, value)

    @given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
    def test_json_is_read_as_yaml(self, value: dict[str, Any]) -> None:
        """Notebooks write front matter so; quoted keys and texts stay strings."""
        assert same(load_yaml(json.dumps(value, ensure_ascii=False)).value, value)

    @given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
    def test_yaml_written_by_pyyaml_is_read(self, value: dict[str, Any]) -> None:
        """Where YAML 1.1, which PyYAML writes, has the same scalars; `0e0` is no number there."""
        written = yaml.safe_dump(value, allow_unicode=True)
        assume(not re.search(r"(?<![\d.])[-+]?\d+[eE][-+]?\d", written))
        assert same(load_yaml(written).value, value)

    @given(TEXT)
    @example("\x85a: 1\nb")
    def test_any_text_is_read_as_yaml_or_refused_with_a_valid_line(self, text: str) -> None:
        self._read(load_yaml, text)

    @given(TEXT)
    def test_any_text_is_read_as_json_or_refused_with_a_valid_line(self, text: str) -> None:
        self._read(load_json, text)

    @staticmethod
    def _read(load: Any, text: str) -> None:
        last = len(text.splitlines()) + 1
        try:
            lines = list(load(text).lines.values())
        except UnreadableError as error:
            lines = [error.line or 1, bool(error.message and error.remedy)]
        assert all(1 <= line <= last for line in lines)

    @given(st.integers(0, 3 * MAX_DEPTH), st.sampled_from([("[", "]"), ('{"a": ', "}")]))
    def test_yaml_and_json_have_the_same_maximum_depth(self, depth: int, marks: tuple[str, str]) -> None:
        text = marks[0] * depth + "1" + marks[1] * depth
        for load in (load_yaml, load_json):
            if depth <= MAX_DEPTH:
                load(text)
            else:
                with pytest.raises(UnreadableError, match="nested"):
                    load(text)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clean tree; tests that change it restore it."""
    return Path(shutil.copytree(CLEAN, tmp_path_factory.mktemp("properties") / "tree"))


RECORDS = [name for name, loader in LOADERS.items() if loader.kind in ("yaml", "json")]


class TestRecords:
    @pytest.mark.parametrize("name", RECORDS)
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    def test_a_changed_file_is_a_problem_or_read_as_written(self, name: str, root: Path, data: st.DataObject) -> None:
        loader = LOADERS[name]
        clean = loader.clean
        at = data.draw(st.integers(0, min(len(clean), 3000)))
        gone = data.draw(st.integers(0, 12))
        text = clean[:at] + data.draw(MARKS | st.text(max_size=4)) + clean[at + gone :]
        try:
            (root / loader.path).write_bytes(text.encode("utf-8", "surrogatepass"))
            tree = records.load(root)
        finally:
            if loader.alone:
                (root / loader.path).write_text(clean, "utf-8")
            else:
                (root / loader.path).unlink()
        problems = [problem for problem in tree.problems if problem.path == loader.path]
        assert all(str(problem).isprintable() and problem.remedy for problem in problems)
        assert {problem.path for problem in tree.problems} <= {loader.path}
        if HIDDEN.search(text):
            assert problems
        if name == "claims" and "training.hostile" in tree.claims:
            written = yaml.load(text, yaml.CSafeLoader)
            claim = tree.claims["training.hostile"].model_dump(mode="json", exclude_unset=True)
            assert set(claim) <= set(written)
            assert " ".join(claim["statement"].split()) == " ".join(str(written["statement"]).split())

    def test_evidence_round_trips_byte_by_byte(self) -> None:
        for session in records.load(CLEAN).sessions:
            assert paths.evidence_text(session.evidence) == (CLEAN / session.path).read_text("utf-8")

"""Loading records: a clean tree has no problems, and each fault gives one problem with a place and a remedy."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from factories import BENCHMARK, a_claim, a_run_record, a_session, edited, load_clean, write, write_tree
from faults import CLAIM, CLAIM_TEXT, FAULTS, RUN, SCRIPT, SHEET, SNIPPET_PATH, add, make, resaved, swap
from headroom import records
from headroom.records import CitedClaim, MeasuredClaim, Problem, paths
from headroom.records.snippets import ablation_faults


class TestLoading:
    """All records of a tree, with their problems."""

    def test_clean_tree_has_every_kind_of_record_and_no_problem(self, tmp_path: Path) -> None:
        """Every record is loaded with the values of its file."""
        tree = load_clean(make(tmp_path))
        assert isinstance(tree.claims["training.clever"], MeasuredClaim)
        assert isinstance(tree.claims["training.cited"], CitedClaim)
        assert tree.claim_paths["training.clever"] == CLAIM
        assert tree.documents[CLAIM].line(("scope", "sweep", "grid", 1)) == 16
        assert [claim.id for claim in tree.measured()] == ["training.clever"]
        (session,) = tree.sessions
        assert len(session.evidence.runs) == 60
        assert paths.evidence_path(session.evidence, (tmp_path / session.path).read_text()) == session.path
        assert list(tree.methods) == ["cleverness"]
        assert list(tree.classes) == ["cpu", "h200"]
        assert tree.facts["sheet"].figures["memory"].value == 141
        assert list(tree.benchmarks) == ["made_up"]
        snippet = tree.snippets["training/clever"]
        assert (snippet.title, snippet.regions) == ("Cleverness is on.", {"enable": (10, 12)})
        assert (snippet.dependencies, snippet.command) == (("torch",), f"uv run {SNIPPET_PATH}")
        assert "\nclever = False\n" in snippet.ablated()
        assert '"clever = True" = "clever = False"' in snippet.ablated()
        assert tree.runs["training/clever", "cpu"].sha256 == snippet.sha256

    def test_empty_folder_is_an_empty_tree(self, tmp_path: Path) -> None:
        """No file is required."""
        tree = load_clean(tmp_path)
        assert not tree.claims
        assert not tree.sessions

    def test_project_records_have_no_problem(self) -> None:
        """The records of this repository are valid."""
        tree = load_clean(Path(__file__).parents[1])
        assert tree.claims
        assert tree.classes

    @pytest.mark.parametrize("much", [0, 100_001])
    @pytest.mark.parametrize(
        "sign", [chr(i) for i in range(0x20) if chr(i) not in "\t\n\r"] + ["\x7f", "\n<<<<<<< a\n"]
    )
    def test_hidden_character_in_a_session_is_reported_before_other_problems(
        self, tmp_path: Path, sign: str, much: int
    ) -> None:
        """Inside or outside of a string, and in short and long files."""
        make(tmp_path)
        (path,) = (tmp_path / "checks/evidence").rglob("*.json")
        good = path.read_text("utf-8")
        for text in (good.replace('"made_up"', f'"made{sign}up"'), f"{good[:-2]}{',1' * much}{sign}}}\n"):
            path.write_text(text, "utf-8")
            (problem,) = records.load(tmp_path).problems
            assert any(words in problem.message for words in ("invisible character, U+", "null byte", "merge"))

    @pytest.mark.parametrize("name", FAULTS)
    def test_fault_is_one_problem_with_place_and_remedy(self, tmp_path: Path, name: str) -> None:
        """File, line or pointer, rule, field, message and remedy, on one line."""
        fault = FAULTS[name]
        fault.do(make(tmp_path))
        (problem,) = records.load(tmp_path).problems
        assert (problem.path, problem.line, problem.rule, problem.field) == fault[1:5]
        assert fault.message in problem.message
        assert problem.remedy
        self._is_one_line_with_remedy(problem)

    @staticmethod
    def _is_one_line_with_remedy(problem: Problem) -> None:
        place = f"{problem.path}:{problem.line}" if problem.line else problem.path
        assert str(problem).startswith(f"{place}: {problem.rule}: ")
        assert f"; {' '.join(problem.remedy.split())}" in str(problem)
        assert len(str(problem).splitlines()) == 1

    def test_all_problems_are_reported_at_once(self, tmp_path: Path) -> None:
        """Three broken files give three problems, and two faults in a file give two."""
        make(tmp_path)
        for name in ("unknown key", "missing key", "no source", "run NaN"):
            FAULTS[name].do(tmp_path)
        assert [problem.path for problem in records.load(tmp_path).problems] == [SHEET, CLAIM, CLAIM, RUN]

    def test_value_outside_a_union_is_one_problem(self, tmp_path: Path) -> None:
        """The message lists all members of the union."""
        make(tmp_path)
        swap(CLAIM, "fixed: {model: made up}", "fixed: {model: [1]}")(tmp_path)
        (problem,) = records.load(tmp_path).problems
        assert problem.field == "scope.fixed.model"
        assert problem.message == "Input should be a valid integer, or a valid number, or a valid string"

    def test_record_with_many_faults_reports_the_first_and_counts_the_rest(self, tmp_path: Path) -> None:
        """A file of another kind is not reported key by key."""
        make(tmp_path)
        add(RUN, a_run_record(**{f"key{i}": i for i in range(50)}))(tmp_path)
        problems = records.load(tmp_path).problems
        assert len(problems) == 21
        assert "more problems: 30" in problems[-1].message

    def test_broken_file_hides_no_other(self, tmp_path: Path) -> None:
        """The rest of the tree is loaded."""
        make(tmp_path)
        FAULTS["duplicate key"].do(tmp_path)
        tree = records.load(tmp_path)
        assert list(tree.claims) == ["training.cited"]
        assert len(tree.sessions) == 1

    @pytest.mark.parametrize("target", ["/etc/hostname", "clever.yml", "loop.yml"])
    def test_symbolic_link_in_the_registry_is_a_problem(self, tmp_path: Path, target: str) -> None:
        """Checking a contribution reads no other file of the machine."""
        make(tmp_path)
        (tmp_path / "checks/registry/training/loop.yml").symlink_to(target)
        problems = records.load(tmp_path).problems
        assert [problem.path for problem in problems] == ["checks/registry/training/loop.yml"]

    def test_hidden_files_of_editors_are_ignored(self, tmp_path: Path) -> None:
        """Editors and operating systems create them."""
        make(tmp_path)
        write(tmp_path / "checks/registry/.DS_Store", "x")
        write(tmp_path / "checks/benchmarks/__pycache__/a.pyc", "x")
        load_clean(tmp_path)


class TestEvidence:
    """Evidence is never edited."""

    def test_changed_digit_is_reported(self, tmp_path: Path) -> None:
        """The file name no longer matches the content."""
        make(tmp_path)
        (path,) = (tmp_path / "checks/evidence").rglob("*.json")
        text = path.read_text(encoding="utf-8")
        at = text.index('"samples"') + text[text.index('"samples"') :].index("0.") + 4
        path.write_text(text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :], encoding="utf-8")
        (problem,) = records.load(tmp_path).problems
        assert (problem.rule, problem.line) == ("evidence", None)
        assert "the file name does not match the content" in problem.message
        assert "never edited" in problem.remedy

    @pytest.mark.parametrize("part", ["h200-2026-11-20", "cpu-2026-11-21"])
    def test_file_name_with_another_class_or_date_is_reported(self, tmp_path: Path, part: str) -> None:
        """The whole name counts, not only the hash."""
        make(tmp_path)
        (path,) = (tmp_path / "checks/evidence").rglob("*.json")
        path.rename(path.with_name(path.name.replace("cpu-2026-11-20", part)))
        (problem,) = records.load(tmp_path).problems
        assert "the file name does not match the content" in problem.message

    @pytest.mark.parametrize(
        ("edit", "pointer", "message"),
        [
            (lambda data: data.update(verdict="supported"), "/verdict", "unknown key"),
            (lambda data: data.pop("units"), "/units", "missing"),
            (lambda data: data["runs"][3].pop("throttled"), "/runs/3/throttled", "missing"),
            (lambda data: data["runs"][3].update(block=-1), "/runs/3/block", "greater than or equal to 0"),
            (lambda data: data["runs"][3].update(block=2**62), "/runs/3/block", "less than 1000"),
            (lambda data: data["runs"][3].update(flops=-1.0), "/runs/3/flops", "greater than or equal to 0"),
            (lambda data: data["design"].update(blocks=2**62), "/design/blocks", "less than or equal to 1000"),
            (
                lambda data: data["runs"][0].update(samples={"step_time": ["fast"]}),
                "/runs/0/samples/step_time/0",
                "num",
            ),
            (lambda data: data["runs"][1].update(work_sha256="12"), "/runs/1/work_sha256", "match pattern"),
            (lambda data: data["environment"].update(threads=0), "/environment/threads", "greater than 0"),
            (lambda data: data["environment"].update(hostname="x"), "/environment/hostname", "unknown key"),
            (lambda data: data.update(date="today"), "/date", "match pattern"),
            (lambda data: data.update(harness="a\u202eb"), "/harness", "control, text-direction or invisible"),
        ],
    )
    def test_session_that_violates_the_schema_is_reported_at_its_pointer(
        self, tmp_path: Path, edit: Callable[[dict[str, Any]], None], pointer: str, message: str
    ) -> None:
        """Problems in JSON name a JSON pointer and no line."""
        resaved(edit)(make(tmp_path))
        (problem,) = records.load(tmp_path).problems
        assert (problem.rule, problem.line, problem.field) == ("evidence", None, pointer)
        assert message in problem.message
        assert problem.remedy

    def test_session_is_written_with_one_line_per_run_and_round_trips(self, tmp_path: Path) -> None:
        """Diffs are readable, and no number loses a digit."""
        evidence = edited(a_session(a_claim()), lambda data: data["runs"][0].update(output=0.1 + 0.2))
        write_tree(tmp_path, [a_claim()], [evidence])
        (session,) = load_clean(tmp_path).sessions
        assert session.evidence == evidence
        lines = (tmp_path / session.path).read_text(encoding="utf-8").splitlines()
        assert sum(line.startswith('  {"block"') for line in lines) == len(evidence.runs)

    def test_windows_line_ends_do_not_change_evidence(self, tmp_path: Path) -> None:
        """Git may convert line ends."""
        make(tmp_path)
        (path,) = (tmp_path / "checks/evidence").rglob("*.json")
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        load_clean(tmp_path)


class TestClaims:
    """Properties of a claim."""

    def test_points_combine_grid_and_parameters(self) -> None:
        """The claim asserts a part of them."""
        scope = MeasuredClaim.model_validate(yaml.safe_load(CLAIM_TEXT)).scope
        assert scope.points == ({"batch_size": 1}, {"batch_size": 8})
        assert [scope.asserted(point) for point in scope.points] == [False, True]

    def test_benchmark_hash_matches_the_sessions(self, tmp_path: Path) -> None:
        """Sessions record the hash of the benchmark's syntax tree."""
        tree = load_clean(make(tmp_path))
        assert tree.sessions[0].evidence.benchmark_syntax_sha256 == tree.benchmarks["made_up"]
        assert (tmp_path / SCRIPT).read_text(encoding="utf-8") == BENCHMARK


def test_deeply_nested_assertion_does_not_crash() -> None:
    """Its ablation is not reported, since a change of the assertion cannot be detected."""
    source = "#\n# ///\nx = 1\nassert " + 900 * "not " + "x"
    assert ablation_faults(source, ast.parse(source), {"x = 1": "x = 2"}) == []

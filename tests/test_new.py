"""Test `headroom new`: its drafts pass every check except for their TODO marks."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from factories import write
from headroom import rules, scaffolds
from headroom.cli import OK, USAGE, main
from headroom.io.python_source import arms_of, parameters_of
from headroom.io.todo_markers import MARK, gap, gaps
from headroom.records import load

HERE = Path(__file__).parent
CLEAN = HERE / "rule_cases/clean"
CLAIM = ("claim", "training.new.time", "--benchmark", "small_step", "--method", "clever")
EVERY = {
    "checks/benchmarks/two_arms.py": ("benchmark", "two_arms"),
    "checks/registry/training/new-time.yml": CLAIM,
    "snippets/training/new.py": ("snippet", "training/new"),
    "docs/training/new.md": ("guide", "training/new", "--snippet", "training/new", "--method", "new"),
    "checks/published/new-a100.yml": (
        *("reported", "new-a100", "--claim", "training.clever.published-rate"),
        *("--source", f"example/clever@{'1' * 40}:results.csv", "--rows", "clever/quantiles.csv"),
    ),
    "checks/methods/new.yml": ("method", "new", "--guide", "training/new.md"),
}
each_kind = pytest.mark.parametrize(("path", "words"), EVERY.items(), ids=lambda value: value[0])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a copy of the clean tree."""
    return Path(shutil.copytree(CLEAN, tmp_path / "tree"))


def new(root: Path, *words: str) -> int:
    """Return the exit code of `headroom new`."""
    return main(["new", *words, "--root", str(root)])


def found(root: Path) -> dict[str, set[str]]:
    """Return the rules that each file breaks."""
    broken: dict[str, set[str]] = {}
    for problem in rules.check(rules.Context.of(root)):
        broken.setdefault(problem.path, set()).add(problem.rule)
    return broken


def fill(root: Path) -> None:
    """Replace every TODO mark by some text."""
    for path in EVERY:
        text = (root / path).read_text("utf-8")
        (root / path).write_text(text.replace(gap(""), "Something of ").replace(MARK, "Something"), "utf-8")


class TestDrafts:
    """The drafts."""

    def test_drafts_break_only_rules_that_the_author_must_fix(self, root: Path) -> None:
        """TODO marks; also, no claim names the benchmark yet, the snippet has not run, and the arms are a guess."""
        for words in EVERY.values():
            assert new(root, *words) == OK
        more = {"snippets/training/new.py": {"gaps", "runs"}, "checks/benchmarks/two_arms.py": {"gaps", "orphans"}}
        more["checks/published/new-a100.yml"] = {"gaps", "published"}
        assert found(root) == {path: {"gaps"} for path in EVERY} | more

    def test_every_mark_is_reported_with_its_line(self, root: Path) -> None:
        for words in EVERY.values():
            new(root, *words)
        named = {(p.path, p.line) for p in rules.check(rules.Context.of(root)) if p.rule == "gaps"}
        marked = {
            (path, number)
            for path in EVERY
            for number, row in enumerate((root / path).read_text("utf-8").splitlines(), 1)
            if MARK in row
        }
        assert named == marked
        assert len(marked) > 20

    def test_filled_drafts_still_need_links_and_runs(self, root: Path) -> None:
        """The page needs its place in `nav`, the snippet its run, the benchmark and the claim each other."""
        for words in EVERY.values():
            new(root, *words)
        fill(root)
        assert found(root) == {
            "checks/benchmarks/two_arms.py": {"orphans"},
            "checks/published/new-a100.yml": {"published"},
            "checks/registry/training/new-time.yml": {"orphans"},
            "docs/training/new.md": {"orphans"},
            "snippets/training/new.py": {"runs"},
        }

    def test_claim_takes_arms_and_parameters_from_its_benchmark(self, root: Path) -> None:
        new(root, *CLAIM, "--metric", "saved_for_backward", "--guide", "training/cpu.md")
        claim = next(claim for claim in load(root).measured() if claim.id == "training.new.time")
        assert (claim.baseline, claim.subject) == ("plain", "clever")
        assert list(claim.scope.at) == ["batch_size"]
        assert (claim.metric.name, claim.blocks) == ("saved_for_backward", 10)
        assert claim.scope.fixed == {"model": "a made-up one"}
        assert (claim.guide, claim.scope.hardware) == ("training/cpu.md", ("cpu",))

    def test_claim_defaults_to_the_page_and_hardware_of_its_method(self, root: Path) -> None:
        new(root, *CLAIM)
        claim = next(claim for claim in load(root).measured() if claim.id == "training.new.time")
        assert (claim.guide, claim.scope.hardware, claim.blocks) == ("training/gpu.md", ("h200",), 20)

    def test_claim_on_a_benchmark_without_arms_marks_them(self, root: Path) -> None:
        write(root / "checks/benchmarks/bare.py", "x = 1\n")
        assert new(root, "claim", "training.new.bare", "--benchmark", "bare", "--method", "clever") == OK
        text = (root / "checks/registry/training/new-bare.yml").read_text("utf-8")
        assert f'subject: "{gap("another arm")}"' in text
        assert "  at:" not in text

    def test_guide_shows_every_region_of_its_snippet_in_order(self, root: Path) -> None:
        """Without a snippet, the code is a TODO mark."""
        assert new(root, "guide", "training/shown", "--snippet", "training/clever") == OK
        text = (root / "docs/training/shown.md").read_text("utf-8")
        regions = load(root).snippets["training/clever"].regions
        assert [name for name in regions if f'--8<-- "snippets/training/clever.py:{name}"' in text] == [*regions]
        assert new(root, "guide", "training/without") == OK
        bare = (root / "docs/training/without.md").read_text("utf-8")
        assert "--8<--" not in bare
        assert gap("the code, a region of a snippet") in bare
        assert "{#without}" in bare

    def test_filled_scripts_pass_the_linter(self, root: Path) -> None:
        for words in EVERY.values():
            new(root, *words)
        fill(root)
        scripts = [path for path in EVERY if path.endswith(".py")]
        for command in (["check"], ["format", "--check"]):
            words = ["ruff", *command, "--no-cache", "--config", str(HERE.parent / "pyproject.toml"), *scripts]
            done = subprocess.run([sys.executable, "-m", *words], cwd=root, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout

    def test_benchmark_has_arms_no_required_parameter_and_small_constants(self, root: Path) -> None:
        new(root, "benchmark", "two_arms")
        source = (root / "checks/benchmarks/two_arms.py").read_text("utf-8")
        assert arms_of(source) == ("plain", "changed")
        assert parameters_of(source) == ()
        assert "\nSMALL = {" in source


class TestCommand:
    """Printed output and refusals."""

    @each_kind
    def test_prints_the_path_and_the_next_steps(
        self, root: Path, path: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The path goes to standard output, the steps to standard error."""
        write(root / "docs/training/new.md", "# New\n")
        write(root / "snippets/training/new.py", (root / "snippets/training/clever.py").read_text("utf-8"))
        (root / path).unlink(missing_ok=True)
        assert new(root, *words) == OK
        printed = capsys.readouterr()
        assert printed.out == f"{path}\n"
        assert printed.err.startswith(f"next:\n  1. replace each mark {MARK} (")
        assert printed.err.endswith("headroom check\n")

    def test_json_has_the_path_and_the_next_steps(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert new(root, *CLAIM, "--json") == OK
        printed = json.loads(capsys.readouterr().out)
        assert printed["written"] == "checks/registry/training/new-time.yml"
        assert printed["next"][-1] == "measure the claim: headroom measure training.new.time"

    @each_kind
    def test_existing_file_is_never_overwritten(
        self, root: Path, path: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(root / "docs/training/new.md", "# New\n")
        write(root / "snippets/training/new.py", (root / "snippets/training/clever.py").read_text("utf-8"))
        write(root / path, before := (root / path).read_text("utf-8") if (root / path).exists() else "mine\n")
        assert new(root, *words) == USAGE
        assert (root / path).read_text("utf-8") == before
        message = f"headroom: {path} exists already and is unchanged; choose another name, or edit the file\n"
        assert capsys.readouterr().err == message

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (
                ("benchmark", "Two-Arms"),
                "`Two-Arms` is not a valid name of a benchmark; use a name like `gpt2_padding`",
            ),
            (("benchmark", "../../escape"), "`../../escape` is not a valid name of a benchmark"),
            (("claim", "new", *CLAIM[2:]), "`new` is not a valid name of a claim"),
            (("claim", "a.b\n", *CLAIM[2:]), "`a.b\n` is not a valid name of a claim"),
            (("snippet", "../x"), "`../x` is not a valid name of a snippet"),
            (("guide", "a b"), "`a b` is not a valid name of a guide; use a name like `training/single-gpu`"),
            (("method", "a_b", "--guide", "training/gpu.md"), "`a_b` is not a valid name of a method"),
            (("method", "x" * 61, "--guide", "training/gpu.md"), f"`{'x' * 61}` is not a valid name of a method"),
            ((*CLAIM[:3], "small_stepp", *CLAIM[4:]), "no benchmark `small_stepp`; did you mean small_step?"),
            ((*CLAIM[:3], "zzz", *CLAIM[4:]), "no benchmark `zzz`; `headroom new benchmark` writes a draft"),
            ((*CLAIM[:5], "cleverr"), "no method `cleverr`; did you mean clever?"),
            ((*CLAIM, "--metric", "speed"), "there is no metric `speed`; metrics are: step_time, "),
            ((*CLAIM, "--guide", "training/gpus.md"), "no guide `training/gpus.md`; did you mean training/gpu.md"),
            (("guide", "training/x", "--snippet", "none"), "no snippet `none`; `headroom new snippet` writes a draft"),
            (("method", "m", "--guide", "zzz"), "no guide `zzz`; `headroom new guide` writes a draft"),
        ],
    )
    def test_invalid_or_unknown_name_is_refused_and_writes_nothing(
        self, root: Path, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = sorted(root.rglob("*"))
        assert new(root, *words) == USAGE
        assert message in capsys.readouterr().err
        assert sorted(root.rglob("*")) == before

    @pytest.mark.parametrize(
        "words",
        [(), ("clam", "x"), ("claim",), ("claim", "a.b"), ("claim", "a.b", "--benchmark", "b"), ("method", "m")],
    )
    def test_missing_argument_prints_the_usage(
        self, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit) as stopped:
            main(["new", *words])
        assert stopped.value.code == USAGE
        assert capsys.readouterr().err.startswith("usage: headroom new")

    @pytest.mark.parametrize("kind", ["claim", "benchmark", "snippet", "guide", "method"])
    def test_help_shows_an_example_of_a_name(self, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as stopped:
            main(["new", kind, "--help"])
        assert stopped.value.code == OK
        assert "such as " in capsys.readouterr().out
        assert hasattr(scaffolds, kind)


class TestGaps:
    """TODO marks."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", []),
            ("TODO: x\nauthor", []),
            ("a\nTODO(author): the title\n", [(2, "not written yet: the title")]),
            ('name: "TODO(author): its name", b: 1\n', [(1, "not written yet: its name")]),
            ("<!-- TODO(author): more -->", [(1, "not written yet: more")]),
            ("TODO(author)\nTODO(author):  \n", [(1, "not written yet"), (2, "not written yet")]),
            ("## TODO(author): it {#x}\r\n", [(1, "not written yet: it")]),
            ("TODO(author): one sentence. And another.", [(1, "not written yet: one sentence. And another")]),
        ],
    )
    def test_mark_is_found_with_its_line_and_text(self, text: str, expected: list[tuple[int, str]]) -> None:
        """The text ends with the value, the comment or the line."""
        assert list(gaps(text)) == expected

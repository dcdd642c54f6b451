"""`headroom new`: first drafts that pass but for what only their author knows."""

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
    "checks/methods/new.yml": ("method", "new", "--guide", "training/new.md"),
}
each_kind = pytest.mark.parametrize(("path", "words"), EVERY.items(), ids=lambda value: value[0])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clean tree to add to."""
    return Path(shutil.copytree(CLEAN, tmp_path / "tree"))


def new(root: Path, *words: str) -> int:
    """The exit code of `headroom new`."""
    return main(["new", *words, "--root", str(root)])


def found(root: Path) -> dict[str, set[str]]:
    """The rules that each file breaks."""
    broken: dict[str, set[str]] = {}
    for problem in rules.check(rules.Context.of(root)):
        broken.setdefault(problem.path, set()).add(problem.rule)
    return broken


def filled(root: Path) -> None:
    """Write something for everything that is marked."""
    for path in EVERY:
        text = (root / path).read_text("utf-8")
        (root / path).write_text(text.replace(gap(""), "Something of ").replace(MARK, "Something"), "utf-8")


class TestDrafts:
    """What is written, and what is left to the author."""

    def test_break_no_rule_but_those_that_only_the_author_can_mend(self, root: Path) -> None:
        """Each place that is marked is named; else no claim names the script, and the snippet has not run."""
        for words in EVERY.values():
            assert new(root, *words) == OK
        more = {"snippets/training/new.py": {"gaps", "runs"}, "checks/benchmarks/two_arms.py": {"gaps", "orphans"}}
        assert found(root) == {path: {"gaps"} for path in EVERY} | more

    def test_name_every_mark_with_its_line(self, root: Path) -> None:
        """And what is to be written there."""
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

    def test_once_filled_in_are_to_be_reached_run_and_measured_with(self, root: Path) -> None:
        """A page needs its place in the navigation, a snippet its run, a benchmark and a claim one another."""
        for words in EVERY.values():
            new(root, *words)
        filled(root)
        assert found(root) == {
            "checks/benchmarks/two_arms.py": {"orphans"},
            "checks/registry/training/new-time.yml": {"orphans"},
            "docs/training/new.md": {"orphans"},
            "snippets/training/new.py": {"runs"},
        }

    def test_of_a_claim_holds_what_its_benchmark_says(self, root: Path) -> None:
        """Its arms, and the parameters that a step needs, whose values are the author's."""
        new(root, *CLAIM, "--metric", "saved_for_backward", "--guide", "training/cpu.md")
        claim = next(claim for claim in load(root).measured() if claim.id == "training.new.time")
        assert (claim.baseline, claim.subject) == ("plain", "clever")
        assert list(claim.scope.at) == ["batch_size"]
        assert (claim.metric.name, claim.blocks) == ("saved_for_backward", 10)
        assert claim.scope.fixed == {"model": "a made-up one"}
        assert (claim.guide, claim.scope.hardware) == ("training/cpu.md", ("cpu",))

    def test_of_a_claim_stands_on_the_page_of_its_method(self, root: Path) -> None:
        """Where no other is named, with the hardware that the page is about."""
        new(root, *CLAIM)
        claim = next(claim for claim in load(root).measured() if claim.id == "training.new.time")
        assert (claim.guide, claim.scope.hardware, claim.blocks) == ("training/gpu.md", ("h200",), 20)

    def test_of_a_claim_without_arms_says_so(self, root: Path) -> None:
        """A benchmark that declares none leaves them to the author."""
        write(root / "checks/benchmarks/bare.py", "x = 1\n")
        assert new(root, "claim", "training.new.bare", "--benchmark", "bare", "--method", "clever") == OK
        text = (root / "checks/registry/training/new-bare.yml").read_text("utf-8")
        assert f'subject: "{gap("another arm")}"' in text
        assert "  at:" not in text

    def test_of_a_guide_shows_every_region_of_its_snippet(self, root: Path) -> None:
        """In their order; without a snippet, the code is the author's."""
        assert new(root, "guide", "training/shown", "--snippet", "training/clever") == OK
        text = (root / "docs/training/shown.md").read_text("utf-8")
        regions = load(root).snippets["training/clever"].regions
        assert [name for name in regions if f'--8<-- "snippets/training/clever.py:{name}"' in text] == [*regions]
        assert new(root, "guide", "training/without") == OK
        bare = (root / "docs/training/without.md").read_text("utf-8")
        assert "--8<--" not in bare
        assert gap("the code, a region of a snippet") in bare
        assert "{#without}" in bare

    def test_are_as_the_linter_wants_them(self, root: Path) -> None:
        """Scripts but for their marks."""
        for words in EVERY.values():
            new(root, *words)
        filled(root)
        scripts = [path for path in EVERY if path.endswith(".py")]
        for command in (["check"], ["format", "--check"]):
            words = ["ruff", *command, "--no-cache", "--config", str(HERE.parent / "pyproject.toml"), *scripts]
            done = subprocess.run([sys.executable, "-m", *words], cwd=root, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout

    def test_of_a_benchmark_has_what_the_tests_of_benchmarks_want(self, root: Path) -> None:
        """Two arms, no parameter that somebody must give, and constants with which a step takes a moment."""
        new(root, "benchmark", "two_arms")
        source = (root / "checks/benchmarks/two_arms.py").read_text("utf-8")
        assert arms_of(source) == ("plain", "changed")
        assert parameters_of(source) == ()
        assert "\nSMALL = {" in source


class TestCommand:
    """What is printed, and what is refused."""

    @each_kind
    def test_prints_the_path_and_what_comes_next(
        self, root: Path, path: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The path alone is a result."""
        write(root / "docs/training/new.md", "# New\n")
        write(root / "snippets/training/new.py", (root / "snippets/training/clever.py").read_text("utf-8"))
        (root / path).unlink(missing_ok=True)
        assert new(root, *words) == OK
        printed = capsys.readouterr()
        assert printed.out == f"{path}\n"
        assert printed.err.startswith(f"next:\n  1. write what is marked {MARK} (")
        assert printed.err.endswith("headroom check\n")

    def test_prints_json(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """The same as values."""
        assert new(root, *CLAIM, "--json") == OK
        printed = json.loads(capsys.readouterr().out)
        assert printed["written"] == "checks/registry/training/new-time.yml"
        assert printed["next"][-1] == "measure it: headroom measure training.new.time"

    @each_kind
    def test_overwrites_nothing(
        self, root: Path, path: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """What is there stays, whatever it is."""
        write(root / "docs/training/new.md", "# New\n")
        write(root / "snippets/training/new.py", (root / "snippets/training/clever.py").read_text("utf-8"))
        write(root / path, before := (root / path).read_text("utf-8") if (root / path).exists() else "mine\n")
        assert new(root, *words) == USAGE
        assert (root / path).read_text("utf-8") == before
        said = f"headroom: {path} is there already, and is left as it is; choose another name, or edit it\n"
        assert capsys.readouterr().err == said

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("benchmark", "Two-Arms"), "`Two-Arms` is no name for a benchmark; write one like `gpt2_padding`"),
            (("benchmark", "../../escape"), "`../../escape` is no name for a benchmark"),
            (("claim", "new", *CLAIM[2:]), "`new` is no name for a claim"),
            (("claim", "a.b\n", *CLAIM[2:]), "`a.b\n` is no name for a claim"),
            (("snippet", "../x"), "`../x` is no name for a snippet"),
            (("guide", "a b"), "`a b` is no name for a guide; write one like `training/single-gpu`"),
            (("method", "a_b", "--guide", "training/gpu.md"), "`a_b` is no name for a method"),
            (("method", "x" * 61, "--guide", "training/gpu.md"), f"`{'x' * 61}` is no name for a method"),
            ((*CLAIM[:3], "small_stepp", *CLAIM[4:]), "no benchmark `small_stepp`; did you mean small_step?"),
            ((*CLAIM[:3], "zzz", *CLAIM[4:]), "no benchmark `zzz`; `headroom new benchmark` makes one"),
            ((*CLAIM[:5], "cleverr"), "no method `cleverr`; did you mean clever?"),
            ((*CLAIM, "--metric", "speed"), "there is no metric `speed`; metrics are: step_time, "),
            ((*CLAIM, "--guide", "training/gpus.md"), "no guide `training/gpus.md`; did you mean training/gpu.md"),
            (("guide", "training/x", "--snippet", "none"), "no snippet `none`; `headroom new snippet` makes one"),
            (("method", "m", "--guide", "zzz"), "no guide `zzz`; `headroom new guide` makes one"),
        ],
    )
    def test_refuses(self, root: Path, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
        """A name that no record may have, or one that leads nowhere, is bad usage, and nothing is written."""
        before = sorted(root.rglob("*"))
        assert new(root, *words) == USAGE
        assert said in capsys.readouterr().err
        assert sorted(root.rglob("*")) == before

    @pytest.mark.parametrize(
        "words",
        [(), ("clam", "x"), ("claim",), ("claim", "a.b"), ("claim", "a.b", "--benchmark", "b"), ("method", "m")],
    )
    def test_wants_what_it_cannot_guess(self, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
        """With the usage printed."""
        with pytest.raises(SystemExit) as stopped:
            main(["new", *words])
        assert stopped.value.code == USAGE
        assert capsys.readouterr().err.startswith("usage: headroom new")

    @pytest.mark.parametrize("kind", ["claim", "benchmark", "snippet", "guide", "method"])
    def test_helps(self, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
        """With an example of a name."""
        with pytest.raises(SystemExit) as stopped:
            main(["new", kind, "--help"])
        assert stopped.value.code == OK
        assert "as " in capsys.readouterr().out
        assert hasattr(scaffolds, kind)


class TestGaps:
    """What is marked as not written yet."""

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
    def test_are_found_by_line(self, text: str, expected: list[tuple[int, str]]) -> None:
        """With what is to be written, up to the end of the value, the comment or the line."""
        assert list(gaps(text)) == expected

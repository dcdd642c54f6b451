"""What the rule cases do not show: figures rewritten in place, order, and what one fault leaves visible."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headroom import rules
from headroom.io.python_source import arms_of

CLEAN = Path(__file__).parent / "rule_cases" / "clean"
GPU, CPU, INDEX = "docs/training/gpu.md", "docs/training/cpu.md", "docs/index.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clean tree to change."""
    return Path(shutil.copytree(CLEAN, tmp_path / "tree"))


def change(root: Path, path: str, old: str, new: str) -> None:
    """Replace a text that stands once in a file."""
    text = (root / path).read_text("utf-8")
    assert text.count(old) == 1
    (root / path).write_text(text.replace(old, new), "utf-8")


def fix(root: Path) -> list[str]:
    """Rewrite what `--fix` rewrites, and give back the texts."""
    return [fix.text for fix in rules.apply(root, rules.Context.of(root))]


def check(root: Path, only: str | None = None) -> list[str]:
    """What is found, as lines."""
    return [str(problem) for problem in rules.check(rules.Context.of(root), only)]


def state(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its bytes and the time of its last change."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


class TestFix:
    """`headroom check --fix`."""

    @pytest.mark.parametrize(
        ("old", "printed", "fixed"),
        [
            ("[1.43×]", "[9.99×]", "[1.43×]"),
            ("[1.43×]", "[9×]", "[1×]"),
            ("[1.43×]", "[9.9999 ×]", "[1.4302 ×]"),
            ("[1.43×]", "[about **9.9** times as fast, `really`]", "[about **1.4** times as fast, `really`]"),
            ("[+10 %]", "[\u22123 %]", "[10 %]"),
            ("[+10 %]", "[+3.0 %]", "[+10.1 %]"),
            ("[11,041 tokens/s]", "[1,000.0 tokens/s]", "[11,041.3 tokens/s]"),
            ("[11,041 tokens/s]", "[10000 tokens/s]", "[11041 tokens/s]"),
            ("[400 MiB]", "[0.50 GiB]", "[0.39 GiB]"),
            ("[400 MiB]", "[1 kB]", "[419,430 kB]"),
            ("[1.25×]", "[9.99\u00a0%]", "[125.00\u00a0%]"),
            ("[1.43×]", "[?]", "[1.43×]"),
            ("[+10 %]", "[?]", "[+10 %]"),
            ("[11,041 tokens/s]", "[?]", "[11,041 tokens/s]"),
            ("[400 MiB]", "[?]", "[400.0 MiB]"),
        ],
    )
    def test_rewrites_the_figure_only(self, root: Path, old: str, printed: str, fixed: str) -> None:
        """Precision, unit, separators, sign and the words around it stay as the author wrote them."""
        text = (root / GPU).read_text("utf-8")
        change(root, GPU, old, printed)
        fix(root)
        assert (root / GPU).read_text("utf-8") == text.replace(old, fixed)
        assert check(root) == []

    def test_writes_the_sign_of_what_fell(self, root: Path) -> None:
        """A figure that is below zero gets a minus sign, and its plus sign goes."""
        change(root, GPU, "#change@h200,batch_size=1)", "#change@h200,batch_size=8)")
        assert fix(root) == ["\u221230 %"]

    def test_rewrites_several_on_one_page_and_on_one_line(self, root: Path) -> None:
        """All figures of all pages are rewritten, whatever the lengths of the others, facts as well."""
        before = state(root)
        for path, old, new in (
            (GPU, "[1.43×]", "[1234567.89×]"),
            (GPU, "[400 MiB]", "[1 MiB]"),
            (GPU, "[100 MiB]", "[55,555 MiB]"),
            (GPU, "[1.25×]", "[0.00×]"),
            (CPU, "[1.4×]", "[0.1×]"),
            (INDEX, "[65,504]", "[1]"),
        ):
            change(root, path, old, new)
        assert len(fix(root)) == 6
        assert {path: text for path, (text, _) in state(root).items()} == {p: text for p, (text, _) in before.items()}

    def test_twice_changes_nothing_more(self, root: Path) -> None:
        """What was rewritten is right, so that nothing is left to rewrite."""
        change(root, GPU, "[1.43×]", "[2×]")
        assert fix(root) == ["1×"]
        before = state(root)
        assert fix(root) == []
        assert state(root) == before

    def test_touches_no_other_file(self, root: Path) -> None:
        """Pages that are right, records and evidence are not even written again."""
        change(root, GPU, "[1.43×]", "[2.00×]")
        before = state(root)
        fix(root)
        after = state(root)
        assert [path for path in after if after[path] != before.get(path)] == [GPU]
        assert after.keys() == before.keys()

    @pytest.mark.parametrize("text", ["[1 or 2×]", "[twice]", "[5 MiB]"])
    def test_leaves_alone_what_it_cannot_write(self, root: Path, text: str) -> None:
        """A link with no figure, with two, or with one in another unit stays, and stays a problem."""
        change(root, GPU, "[1.43×]", text)
        before = state(root)
        assert fix(root) == []
        assert state(root) == before
        assert len(check(root, "figures")) == 1

    def test_leaves_a_link_in_code_alone(self, root: Path) -> None:
        """A figure that a fence shows is no figure of the page."""
        with (root / CPU).open("a", encoding="utf-8") as page:
            page.write("\n```markdown\n[9.9×](claim:training.clever.step-time#ratio@cpu,batch_size=8)\n```\n")
        assert fix(root) == []

    @pytest.mark.parametrize(("name", "error"), [("fsync", OSError), ("fsync", KeyboardInterrupt), ("fdopen", OSError)])
    def test_that_is_interrupted_leaves_pages_whole(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: type[BaseException]
    ) -> None:
        """A full disk or Ctrl-C leaves the page as it was, and nothing beside it."""
        change(root, GPU, "[1.43×]", "[2.00×]")
        before = state(root)

        def fail(*_arguments: object, **_more: object) -> None:
            raise error

        monkeypatch.setattr(os, name, fail)
        with pytest.raises(error):
            fix(root)
        monkeypatch.undo()
        assert state(root) == before


FAULTS = {
    "checks/registry/training/extra.yml": "id: [\n",
    "checks/evidence/small_step/extra.json": "{",
    "checks/machines/extra.json": "{",
    "checks/methods/extra.yml": "id: extra\n",
    "checks/facts/extra.yml": "*x\n",
    "checks/benchmarks/extra.py": "def",
    "checks/runs/training/extra.json": "[]",
    "snippets/extra.py": "x = (",
    "docs/extra.md": "---\n- x\n---\n",
}


def break_reading(root: Path) -> None:
    """Add an unreadable file of every kind, with a glossary that cannot be read."""
    for path, text in FAULTS.items():
        (root / path).write_text(text, "utf-8")
    (root / "checks/glossary/more.yml").write_text("x: {}\n", "utf-8")


def break_every_rule(root: Path) -> None:
    """Break every rule that looks at what can be read."""
    (root / "checks/runs/training/clever/cpu.json").unlink()
    (root / "docs/hidden.md").write_text("---\ntitle: Hidden\n---\n", "utf-8")
    (root / "docs/gap.md").write_text("TODO(author): the page\n", "utf-8")
    change(root, GPU, "[1.43×]", "[2.00×]")
    change(root, GPU, ' "disputed"', "")
    change(root, GPU, '#ratio@h200 "retired"', "#ratio@h200")
    change(root, GPU, "(claim:training.clever.paper)", "(claim:training.clever.book)")
    change(root, GPU, ":proof", ":truth")
    change(root, CPU, "#ratio@cpu", "#ratio@h200")
    change(root, CPU, "[less for backward]", "[half as much for backward]")
    change(root, INDEX, "This page is", "Training is faster with the clever method, by 20 %. This page is")
    change(root, "docs/training/words.md", "| 8 |", "| 4 |")
    change(root, "docs/training/words.md", "[3.8 MiB]", "[3.9 MiB]")
    change(root, "checks/registry/training/clever-kept-model.yml", "whole * min", "whole + min")
    change(root, "checks/registry/training/clever-throughput.yml", "[1, 8]\n    why", "[2, 8]\n    why")
    change(root, "checks/methods/others.yml", "training.twin.step-time", "training.twin.time")
    change(root, "checks/methods/words.yml", "section:", "was: [old_guide#how]\nsection:")
    change(root, "checks/glossary/words.yml", "training/words.md#place", "training/words.md#nowhere")
    change(root, "checks/facts/number-formats.yml", '"2026-11-21"', '"2931-01-01"')
    change(root, "mkdocs.yml", "nav:", "hooks: [a.py]\nnav:")
    change(root, CPU, "fp16 ends at", "<iframe>\n\nfp16 ends at")


def break_everything(root: Path) -> None:
    """Both."""
    break_reading(root)
    break_every_rule(root)


def test_a_retired_claim_need_not_be_used(root: Path) -> None:
    """Its record stays when the last page has let it go; the same claim would be an orphan if it were made."""
    change(root, GPU, '- What was [claimed of the twin before](claim:training.twin.old-step-time "retired"), at\n', "")
    change(root, GPU, '  [1.00×](claim:training.twin.old-step-time#ratio@h200 "retired"), is retired.\n', "")
    assert rules.check(rules.Context.of(root)) == []
    old = root / "checks/registry/training/twin-old-step-time.yml"
    old.write_text(re.sub(r"retired:\n(  .*\n){3}", "", old.read_text("utf-8")), "utf-8")
    assert [problem.rule for problem in rules.check(rules.Context.of(root))] == ["orphans"]


class TestCheck:
    """All rules together."""

    def test_every_rule_reports_its_fault(self, root: Path) -> None:
        """No rule hides another's problem."""
        break_every_rule(root)
        assert {problem.rule for problem in rules.check(rules.Context.of(root))} == {*rules.RULES, "gaps"}

    def test_unreadable_files_come_first(self, root: Path) -> None:
        """Each of them, before the problems of what can be read."""
        break_everything(root)
        found = [problem.rule in rules.READING[:-1] for problem in rules.check(rules.Context.of(root))]
        assert found == sorted(found, reverse=True)
        problems = rules.check(rules.Context.of(root))
        assert {problem.rule for problem in problems} >= {*rules.READING, "comparisons", "fences", "html"}
        assert FAULTS.keys() <= {problem.path for problem in problems}

    @pytest.mark.parametrize(
        "path",
        [
            *(GPU, CPU, INDEX, "docs/concepts/counting.ipynb", "checks/registry/training/clever-step-time.yml"),
            *("checks/registry/training/clever-paper.yml", "checks/methods/clever.yml", "checks/glossary/words.yml"),
            *("checks/facts/number-formats.yml", "checks/benchmarks/small_step.py", "snippets/training/clever.py"),
            *("checks/evidence/small_step/h200-*.json", "checks/facts/hardware-classes.yml"),
        ],
    )
    def test_an_unseen_character_is_one_problem(self, root: Path, path: str) -> None:
        """Whatever else depends on the file: its consequences go away with it."""
        file = next(root.glob(path))
        file.write_text(file.read_text("utf-8") + "\u200b\n", "utf-8")
        (problem,) = rules.check(rules.Context.of(root))
        assert (root / problem.path, "U+200B" in problem.message) == (file, True)

    def test_is_sorted_by_place_and_says_all_on_one_line(self, root: Path) -> None:
        """Unreadable files, then the rest: each file by file and line by line, each problem once."""
        break_everything(root)
        problems = rules.check(rules.Context.of(root))
        places = [(problem.rule not in rules.READING[:-1], problem.path, problem.line or 0) for problem in problems]
        assert places == sorted(places)
        assert len({str(problem) for problem in problems}) == len(problems)
        assert not any("\n" in str(problem) for problem in problems)

    def test_is_the_same_whatever_the_hash_seed(self, root: Path) -> None:
        """Two runs print the same bytes, in whatever order sets are walked."""
        break_everything(root)
        command = [sys.executable, "-m", "headroom.cli", "check", "--json", "--root", str(root)]
        printed = {
            subprocess.run(command, capture_output=True, check=False, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
            for seed in ("1", "2", "3")
        }
        assert len(printed) == 1
        assert len(json.loads(printed.pop())) >= len(rules.RULES)

    def test_of_one_rule_is_that_rule_of_all(self, root: Path) -> None:
        """`--only` leaves out other rules, and changes nothing in what the one finds."""
        break_everything(root)
        context = rules.Context.of(root)
        problems = rules.check(context)
        for name in (*rules.READING, *rules.RULES):
            assert rules.check(context, name) == [problem for problem in problems if problem.rule == name]

    def test_of_an_empty_tree_finds_nothing(self, tmp_path: Path) -> None:
        """A missing folder is an empty one."""
        assert check(tmp_path) == []

    def test_writes_nothing(self, root: Path) -> None:
        """To look at a tree does not change it."""
        break_everything(root)
        before = state(root)
        check(root)
        assert state(root) == before


class TestArms:
    """The arms of a benchmark, read from its source."""

    @pytest.mark.parametrize(
        "source",
        [
            'ARMS = ("a", "b")\n',
            'ARMS = ["a", "b"]\n',
            'ARMS: Final = ("a", "b")\n',
            'X = 1\nNAMES = ARMS = ("a", "b")\n',
        ],
    )
    def test_are_those_that_it_declares(self, source: str) -> None:
        """A tuple or list of texts, with or without an annotation."""
        assert arms_of(source) == ("a", "b")

    @pytest.mark.parametrize("source", ["", "ARMS = tuple(x)\n", "ARMS = 3\n", "ARMS = None\n", "def ARMS(): ...\n"])
    def test_are_none_where_none_can_be_read(self, source: str) -> None:
        """Whatever else stands there is no error of the check."""
        assert arms_of(source) == ()

    def test_that_are_computed_are_a_problem_of_the_claims(self, root: Path) -> None:
        """A benchmark whose arms cannot be read makes its claims red, and says what to write."""
        change(root, "checks/benchmarks/small_step.py", "ARMS = (", "ARMS = tuple(")
        change(root, "checks/benchmarks/small_step.py", '"moody")', '"moody".split())')
        found = check(root, "references")
        assert len(found) == 2 * 9
        assert all("ARMS = (…)" in line for line in found)


class TestOrphans:
    def test_a_session_of_a_benchmark_without_claims(self, root: Path) -> None:
        """What was measured and is claimed no more is named, and so is its script."""
        for path in (root / "checks/registry").rglob("*.yml"):
            if "kind: measured" in path.read_text("utf-8"):
                path.unlink()
        found = check(root, "orphans")
        sessions = list((root / "checks/evidence").rglob("*.json"))
        assert len([line for line in found if "/benchmark" in line and ".json" in line]) == len(sessions) > 0
        assert any(line.startswith("checks/benchmarks/small_step.py") for line in found)

    def test_a_tree_without_a_site_has_no_navigation(self, root: Path) -> None:
        """Its pages and files are reached by nothing that could name them."""
        (root / "mkdocs.yml").unlink()
        (root / "docs/unused.svg").write_text("<svg/>")
        assert check(root, "orphans") == []


@pytest.mark.parametrize("only", [None, "links", "facts", "flips"])
@pytest.mark.parametrize("name", ["hardware-classes", "stand-ins"])
def test_where_nearly_everything_leans_on_a_broken_file_that_is_said_whatever_is_asked(
    name: str, only: str | None, tmp_path: Path
) -> None:
    """One problem, and no rule is green for want of what it looks at."""
    root = Path(shutil.copytree(CLEAN, tmp_path / "tree"))
    (root / f"checks/facts/{name}.yml").write_text("[", "utf-8")
    (problem,) = rules.check(rules.Context.of(root), only)
    assert (problem.path, problem.rule) == (f"checks/facts/{name}.yml", "facts")

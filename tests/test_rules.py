"""Rules beyond the rule cases: `--fix`, the order of problems, and the independence of rules."""

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
    """Replace a text that occurs once in a file."""
    text = (root / path).read_text("utf-8")
    assert text.count(old) == 1
    (root / path).write_text(text.replace(old, new), "utf-8")


def fix(root: Path) -> list[str]:
    """Apply `--fix`, and return the new texts."""
    return [fix.text for fix in rules.apply(root, rules.Context.of(root))]


def check(root: Path, only: str | None = None) -> list[str]:
    """Return the problems as lines."""
    return [str(problem) for problem in rules.check(rules.Context.of(root), only)]


def state(root: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and modification time of every file."""
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
    def test_rewrites_only_the_figure(self, root: Path, old: str, printed: str, fixed: str) -> None:
        """Precision, unit, separators, sign and the words around it stay as the author wrote them."""
        text = (root / GPU).read_text("utf-8")
        change(root, GPU, old, printed)
        fix(root)
        assert (root / GPU).read_text("utf-8") == text.replace(old, fixed)
        assert check(root) == []

    def test_writes_the_sign_of_a_decrease(self, root: Path) -> None:
        """A negative figure gets a minus sign instead of its plus sign."""
        change(root, GPU, "#change@h200,batch_size=1)", "#change@h200,batch_size=8)")
        assert fix(root) == ["\u221230 %"]

    def test_rewrites_several_on_one_page_and_on_one_line(self, root: Path) -> None:
        """All figures of all pages are rewritten, including facts, for any lengths."""
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

    def test_second_run_changes_nothing(self, root: Path) -> None:
        """Rewritten figures are correct."""
        change(root, GPU, "[1.43×]", "[2×]")
        assert fix(root) == ["1×"]
        before = state(root)
        assert fix(root) == []
        assert state(root) == before

    def test_touches_no_other_file(self, root: Path) -> None:
        """Correct pages, records and evidence are not written again."""
        change(root, GPU, "[1.43×]", "[2.00×]")
        before = state(root)
        fix(root)
        after = state(root)
        assert [path for path in after if after[path] != before.get(path)] == [GPU]
        assert after.keys() == before.keys()

    @pytest.mark.parametrize("text", ["[1 or 2×]", "[twice]", "[5 MiB]"])
    def test_leaves_figures_alone_that_it_cannot_write(self, root: Path, text: str) -> None:
        """A link with no figure, two figures or a figure in another unit is unchanged and remains a problem."""
        change(root, GPU, "[1.43×]", text)
        before = state(root)
        assert fix(root) == []
        assert state(root) == before
        assert len(check(root, "figures")) == 1

    def test_leaves_a_link_in_code_alone(self, root: Path) -> None:
        """A figure in a code fence is not a figure of the page."""
        with (root / CPU).open("a", encoding="utf-8") as page:
            page.write("\n```markdown\n[9.9×](claim:training.clever.step-time#ratio@cpu,batch_size=8)\n```\n")
        assert fix(root) == []

    @pytest.mark.parametrize(("name", "error"), [("fsync", OSError), ("fsync", KeyboardInterrupt), ("fdopen", OSError)])
    def test_interruption_leaves_pages_complete(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: type[BaseException]
    ) -> None:
        """A full disk or Ctrl-C leaves the page as it was, without a temporary file next to it."""
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
    """Break every rule that checks readable files."""
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
    change(root, "checks/published/clever-a100.yml", "column: rate", "column: speed")
    change(root, "checks/glossary/words.yml", "training/words.md#place", "training/words.md#nowhere")
    change(root, "checks/facts/number-formats.yml", '"2026-11-21"', '"2931-01-01"')
    change(root, "checks/facts/accelerators/made-up.yml", "bits: 512", "bits: 384")
    change(root, "mkdocs.yml", "nav:", "hooks: [a.py]\nnav:")
    change(root, "checks/published/training/made-up.yml", "model: plain-0.1b", "model: plain-9b")
    step = {"model": "no-such-model", "family": "llama", "job": {"batch": 1}, "estimated": {"peak": 4}}
    record = {"versions": {}, "machine": "none", "date": "2026-11-23", "traced": [step | {"traced": {"peak": 5}}]}
    (root / "checks/memory-errors").mkdir()
    (root / "checks/memory-errors/traced.json").write_text(json.dumps(record), "utf-8")
    change(root, CPU, "fp16 ends at", "<iframe>\n\nfp16 ends at")


def break_everything(root: Path) -> None:
    """Break loading and every rule."""
    break_reading(root)
    break_every_rule(root)


def test_a_retired_claim_need_not_be_used(root: Path) -> None:
    """Its record remains after the last link is removed; an active claim would be an orphan."""
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
        """All unreadable files precede the problems of readable files."""
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
    def test_invisible_character_is_one_problem(self, root: Path, path: str) -> None:
        """Problems of files that depend on it are left out."""
        file = next(root.glob(path))
        file.write_text(file.read_text("utf-8") + "\u200b\n", "utf-8")
        (problem,) = rules.check(rules.Context.of(root))
        assert (root / problem.path, "U+200B" in problem.message) == (file, True)

    def test_is_sorted_by_place_with_one_line_per_problem(self, root: Path) -> None:
        """Unreadable files come first, then the rest, each by path and line, without duplicates."""
        break_everything(root)
        problems = rules.check(rules.Context.of(root))
        places = [(problem.rule not in rules.READING[:-1], problem.path, problem.line or 0) for problem in problems]
        assert places == sorted(places)
        assert len({str(problem) for problem in problems}) == len(problems)
        assert not any("\n" in str(problem) for problem in problems)

    def test_does_not_depend_on_the_hash_seed(self, root: Path) -> None:
        """Runs print the same bytes in any iteration order of sets."""
        break_everything(root)
        command = [sys.executable, "-m", "headroom.cli", "check", "--json", "--root", str(root)]
        printed = {
            subprocess.run(command, capture_output=True, check=False, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
            for seed in ("1", "2", "3")
        }
        assert len(printed) == 1
        assert len(json.loads(printed.pop())) >= len(rules.RULES)

    def test_of_one_rule_equals_its_part_of_all(self, root: Path) -> None:
        """`--only` leaves out other rules and does not change the problems of its own."""
        break_everything(root)
        context = rules.Context.of(root)
        problems = rules.check(context)
        for name in (*rules.READING, *rules.RULES):
            assert rules.check(context, name) == [problem for problem in problems if problem.rule == name]

    def test_of_an_empty_tree_finds_nothing(self, tmp_path: Path) -> None:
        """A missing folder counts as an empty one."""
        assert check(tmp_path) == []

    def test_writes_nothing(self, root: Path) -> None:
        """Checking a tree does not change it."""
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
    def test_are_the_declared_ones(self, source: str) -> None:
        """A tuple or list of strings, with or without an annotation."""
        assert arms_of(source) == ("a", "b")

    @pytest.mark.parametrize("source", ["", "ARMS = tuple(x)\n", "ARMS = 3\n", "ARMS = None\n", "def ARMS(): ...\n"])
    def test_are_empty_if_they_cannot_be_read(self, source: str) -> None:
        """Any other value raises no exception."""
        assert arms_of(source) == ()

    def test_computed_arms_are_a_problem_of_the_claims(self, root: Path) -> None:
        """Each claim of the benchmark reports it, with what to write."""
        change(root, "checks/benchmarks/small_step.py", "ARMS = (", "ARMS = tuple(")
        change(root, "checks/benchmarks/small_step.py", '"moody")', '"moody".split())')
        found = check(root, "references")
        assert len(found) == 2 * 9
        assert all("ARMS = (…)" in line for line in found)


class TestOrphans:
    def test_session_of_a_benchmark_without_claims_is_reported(self, root: Path) -> None:
        """The benchmark's script is reported as well."""
        for path in (root / "checks/registry").rglob("*.yml"):
            if "kind: measured" in path.read_text("utf-8"):
                path.unlink()
        found = check(root, "orphans")
        sessions = list((root / "checks/evidence").rglob("*.json"))
        assert len([line for line in found if "/benchmark" in line and ".json" in line]) == len(sessions) > 0
        assert any(line.startswith("checks/benchmarks/small_step.py") for line in found)

    def test_tree_without_mkdocs_yml_has_no_orphaned_pages(self, root: Path) -> None:
        """Without navigation, no page or file can be unreachable."""
        (root / "mkdocs.yml").unlink()
        (root / "docs/unused.svg").write_text("<svg/>")
        assert check(root, "orphans") == []


@pytest.mark.parametrize("only", [None, "links", "facts", "flips"])
@pytest.mark.parametrize("name", ["hardware-classes", "stand-ins"])
def test_only_rule_reports_unreadable_fundamental_files_too(name: str, only: str | None, tmp_path: Path) -> None:
    """There is one problem, and no rule passes because its input is missing."""
    root = Path(shutil.copytree(CLEAN, tmp_path / "tree"))
    (root / f"checks/facts/{name}.yml").write_text("[", "utf-8")
    (problem,) = rules.check(rules.Context.of(root), only)
    assert (problem.path, problem.rule) == (f"checks/facts/{name}.yml", "facts")

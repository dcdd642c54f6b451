"""Each case under tests/rule_cases/ breaks one rule, and `headroom check` reports that rule and no other.

A case is the clean tree, tests/rule_cases/clean/, with the smallest change that breaks a rule. `<rule>.yml` maps the
name of each case to:

- `why`: the requirement that the case breaks, in one sentence.
- `edits`: texts to replace. `path` may be a glob for one file, and `old` must occur exactly once in it.
- `files`: files to add or to replace, by path.
- `extra`: globs for the files of tests/rule_cases/extra/ to add. make.py generates these files.
- `delete`: paths to delete.
- `problems`: the expected problems in order. Each is a path and, after ` | `, words that occur on its line and on no
  other (or `path:line`, or the path alone for a problem without a line).
"""

import runpy
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import pytest

from faults import FAULTS, make
from headroom import rules
from headroom.io.strict_load import load_yaml
from headroom.records import Problem
from headroom.verdicts import Status
from reporting_statements import ELSEWHERE, Reached, missed

FOLDER = Path(__file__).parent / "rule_cases"
CLEAN = FOLDER / "clean"
EXTRA = FOLDER / "extra"


@dataclass(frozen=True, slots=True)
class Case:
    """A change of the clean tree that breaks one rule."""

    rule: str
    why: str
    problems: list[str]
    edits: list[dict[str, str]] = field(default_factory=list)
    files: Mapping[str, str] = field(default_factory=dict)
    extra: list[str] = field(default_factory=list)
    delete: list[str] = field(default_factory=list)

    def tree(self, root: Path) -> Path:
        """Write the changed tree to `root`, which must not exist, and return it."""
        shutil.copytree(CLEAN, root)
        for pattern in self.extra:
            (source,) = EXTRA.glob(pattern)
            _write(root / source.relative_to(EXTRA), source.read_text("utf-8"))
        for name, text in self.files.items():
            _write(root / name, text)
        for name in self.delete:
            (root / name).unlink()
        for edit in self.edits:
            _edit(root, **edit)
        return root

    def expected(self, root: Path) -> Iterator[tuple[str, int | None]]:
        """Yield the path and line of each expected problem in the tree at `root`."""
        for row in self.problems:
            place, bar, words = row.partition(" | ")
            name, _, number = place.partition(":")
            (path,) = root.glob(name)
            lines = [i for i, text in enumerate(path.read_text("utf-8").splitlines(), 1) if bar and words in text]
            assert not bar or len(lines) == 1, f"`{words}` occurs on lines {lines} of {name}"
            yield path.relative_to(root).as_posix(), int(number) if number else lines[0] if bar else None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _edit(root: Path, *, path: str, old: str, new: str) -> None:
    (found,) = root.glob(path)
    text = found.read_text("utf-8")
    assert text.count(old) == 1, f"`{old}` occurs {text.count(old)} times in {path}"
    found.write_text(text.replace(old, new), "utf-8")


CASES = {
    f"{path.stem}--{name}": Case(path.stem, **parts)
    for path in sorted(FOLDER.glob("*.yml"))
    for name, parts in load_yaml(path.read_text("utf-8")).value.items()
}


def found(root: Path) -> list[Problem]:
    """Return the problems that `headroom check` finds in a tree."""
    return rules.check(rules.Context.of(root))


@pytest.fixture(scope="module")
def reached() -> Reached:
    """Return the record of lines that every case adds to."""
    return Reached()


def test_clean_tree_has_no_problem() -> None:
    """Every case starts from a tree without problems."""
    assert [str(problem) for problem in found(CLEAN)] == []


def test_clean_tree_has_a_claim_of_every_status() -> None:
    """Every rule that depends on a status has a claim to look at."""
    context = rules.Context.of(CLEAN)
    statuses = {context.board.status(claim, "h200") for claim in context.tree.claims.values()}
    assert statuses == {*get_args(Status)} - {"mixed"}


def test_every_rule_has_a_case() -> None:
    """No rule can stop working unnoticed, and no case is for a rule that does not exist."""
    assert {case.rule for case in CASES.values()} == {*rules.READING, *rules.RULES}


@pytest.mark.parametrize("name", CASES)
def test_case_breaks_its_rule_alone(name: str, tmp_path: Path, reached: Reached) -> None:
    """The problems have the rule of the case and the expected places, and each says what to do."""
    case = CASES[name]
    root = case.tree(tmp_path / "tree")
    with reached:
        problems = found(root)
    reached.trees.add(name)
    assert [(problem.path, problem.line) for problem in problems] == list(case.expected(root))
    assert {problem.rule for problem in problems} == {case.rule}
    assert all(problem.message and problem.remedy for problem in problems)
    assert case.why.endswith(".")


def test_every_place_that_finds_a_problem_is_reached(tmp_path: Path, reached: Reached) -> None:
    """A new message needs a case under tests/rule_cases/ or, if it is about a record, a fault in tests/faults.py."""
    for name in CASES.keys() - reached.trees:  # none, if all cases ran before
        with reached:
            found(CASES[name].tree(tmp_path / name))
    for name, fault in FAULTS.items():
        root = make(tmp_path / f"fault {name}")
        fault.do(root)
        with reached:
            found(root)
    assert set(missed(reached.lines)) == set(ELSEWHERE)


def test_generated_files_are_as_make_writes_them() -> None:
    """Evidence, run records and machine records are what make.py generates, byte for byte, and there are no others."""
    made = dict(runpy.run_path(str(FOLDER / "make.py"))["files"]())
    known = [path for path in FOLDER.rglob("*.json") if path.parent.name != "coefficients"]
    assert {path.relative_to(FOLDER).as_posix(): path.read_text("utf-8") for path in known} == made

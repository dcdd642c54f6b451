"""Every rule turns its canaries red, and nothing else does.

A canary is the clean tree with the smallest change that breaks one rule, as a folder `<rule>` or `<rule>--<variant>`:

- WHY.txt: what holds, in one sentence.
- EXPECT.txt: the problems in order, each a path and, after ` | `, words that stand on its line and on no other
  (or `path:line`; or the path alone, for a problem without a line).
- EDITS.yml: texts that are replaced, each standing exactly once; without `old`, a file that is made.
- DELETE: paths that are removed, one a line.
- every other file: a file that is added, or that replaces one.
"""

import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from headroom import rules
from headroom.records import Problem

CANARIES = Path(__file__).parent / "canaries"
CLEAN = CANARIES / "clean"
FOLDERS = sorted(path.name for path in CANARIES.iterdir() if path.is_dir() and path != CLEAN and path.name[0] != "_")
NOTES = {"WHY.txt", "EXPECT.txt", "EDITS.yml", "DELETE"}
KNOWN = {*rules.READING, *rules.RULES}


def tree_of(canary: Path, root: Path) -> Path:
    """The clean tree with the change of a canary."""
    shutil.copytree(CLEAN, root)
    for path in canary.rglob("*"):
        name = path.relative_to(canary)
        if path.is_file() and name.as_posix() not in NOTES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / name)
    if (canary / "DELETE").exists():
        for gone in (canary / "DELETE").read_text("utf-8").splitlines():
            (root / gone).unlink()
    if (canary / "EDITS.yml").exists():
        for edit in yaml.safe_load((canary / "EDITS.yml").read_text("utf-8")):
            _edit(root, **edit)
    return root


def _edit(root: Path, *, path: str, new: str, old: str | None = None) -> None:
    if old is None:
        (root / path).write_text(new, "utf-8")
        return
    (found,) = root.glob(path)
    text = found.read_text("utf-8")
    assert text.count(old) == 1, f"`{old}` stands {text.count(old)} times in {path}"
    found.write_text(text.replace(old, new), "utf-8")


def expected(canary: Path, root: Path) -> Iterator[tuple[str, int | None]]:
    """The places of the problems that a canary is to show."""
    for row in (canary / "EXPECT.txt").read_text("utf-8").splitlines():
        place, bar, words = row.partition(" | ")
        name, _, number = place.partition(":")
        (path,) = root.glob(name)
        lines = [i for i, text in enumerate(path.read_text("utf-8").splitlines(), 1) if bar and words in text]
        assert not bar or len(lines) == 1, f"`{words}` stands on lines {lines} of {name}"
        yield path.relative_to(root).as_posix(), int(number) if number else lines[0] if bar else None


def found(root: Path) -> list[Problem]:
    """What `headroom check` finds in a tree."""
    return rules.check(rules.Context.of(root))


def test_clean_tree_has_no_problem() -> None:
    """Nothing is found in the tree that all canaries are made of."""
    assert [str(problem) for problem in found(CLEAN)] == []


def test_clean_tree_has_every_status() -> None:
    """The clean tree holds a claim of every status, so that no rule is green for want of something to look at."""
    context = rules.Context.of(CLEAN)
    statuses = {context.board.status(claim, "h200") for claim in context.tree.claims.values()}
    assert statuses == {
        "supported",
        "contradicted",
        "inconclusive",
        "flips",
        "disputed",
        "unmeasured",
        "cited",
        "modelled",
    }


def test_every_rule_has_a_canary() -> None:
    """A rule without a canary could stop working unnoticed, and a canary of no rule shows nothing."""
    assert {folder.partition("--")[0] for folder in FOLDERS} == KNOWN


@pytest.mark.parametrize("folder", FOLDERS)
class TestCanary:
    """One canary."""

    def test_turns_red_with_its_rule_alone(self, folder: str, tmp_path: Path) -> None:
        """Its problems carry the name of its rule, stand where the change is, and say what to do."""
        root = tree_of(CANARIES / folder, tmp_path / "tree")
        problems = found(root)
        assert [(problem.path, problem.line) for problem in problems] == list(expected(CANARIES / folder, root))
        assert {problem.rule for problem in problems} == {folder.partition("--")[0]}
        assert all(problem.message and problem.remedy for problem in problems)

    def test_says_why(self, folder: str) -> None:
        """It says in one line what holds."""
        text = (CANARIES / folder / "WHY.txt").read_text("utf-8")
        assert text.endswith(".\n")
        assert text.count("\n") == 1


def test_what_is_made_is_as_make_makes_it() -> None:
    """Evidence and run records are those that make.py makes, to the byte, and there are no others."""
    made = dict(runpy.run_path(str(CANARIES / "make.py"))["files"]())
    by_hand = set(CANARIES.glob("evidence--*/**/*.json"))
    on_disk = {
        path.relative_to(CANARIES).as_posix(): path.read_text("utf-8")
        for path in CANARIES.rglob("*.json")
        if path not in by_hand
    }
    assert on_disk == made

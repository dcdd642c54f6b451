"""Every attack on every loader gives one clear problem, or none for the reason that the matrix names."""

import shutil
from pathlib import Path

import pytest

from headroom import rules
from headroom.records import Problem
from hostile.attacks import ATTACKS
from hostile.loaders import CLEAN, LOADERS
from hostile.matrix import MATRIX, Harmless

TOGETHER = [name for name, loader in LOADERS.items() if not loader.alone]
ALONE = [[name] for name, loader in LOADERS.items() if loader.alone]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clean tree; tests that change it restore it."""
    return Path(shutil.copytree(CLEAN, tmp_path_factory.mktemp("hostile") / "tree"))


def found(root: Path) -> list[Problem]:
    """Return the problems that `headroom check` finds in a tree."""
    return rules.check(rules.Context.of(root))


def lay(root: Path, name: str, data: bytes) -> None:
    """Write a file where its loader reads it."""
    (root / LOADERS[name].path).write_bytes(data)


def restore(root: Path) -> None:
    """Remove every hostile file, and restore the clean ones."""
    for loader in LOADERS.values():
        if loader.alone:
            (root / loader.path).write_text(loader.clean, "utf-8")
        else:
            (root / loader.path).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def unharmed(root: Path) -> dict[str, set[Problem]]:
    """Return the problems of each file before an attack, such as that it is unused."""
    restore(root)
    for name in LOADERS:
        lay(root, name, LOADERS[name].clean.encode())
    problems = found(root)
    restore(root)
    return {name: {p for p in problems if p.path == loader.path} for name, loader in LOADERS.items()}


def test_every_attack_and_every_loader_has_a_cell() -> None:
    assert set(MATRIX) == set(ATTACKS)
    assert all(set(row) == set(LOADERS) for row in MATRIX.values())


def test_every_rule_of_reading_has_a_loader() -> None:
    """Every check of reading is attacked; records of runs and the site's configuration have rules of their own.

    A gap is found by every loader.
    """
    assert {loader.rule for loader in LOADERS.values()} == {*rules.READING, "runs", "orphans"} - {"gaps"}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_cell_with_a_problem_has_an_attack(attack: str) -> None:
    unwritten = {name for name, loader in LOADERS.items() if ATTACKS[attack](loader) is None}
    assert {name for name in unwritten if not isinstance(MATRIX[attack][name], Harmless)} == set()
    assert len(unwritten) < len(LOADERS)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_one_clear_problem(
    attack: str, root: Path, unharmed: dict[str, set[Problem]], *, deep: bool
) -> None:
    """One line with file, rule, words and remedy; no other file is reported, and nothing runs."""
    groups = [[name] for name in LOADERS] if deep else [TOGETHER, *ALONE]
    for names in groups:
        written = {name: data for name in names if (data := ATTACKS[attack](LOADERS[name])) is not None}
        for name, data in written.items():
            lay(root, name, data)
        try:
            problems = found(root)
        finally:
            restore(root)
        paths = {LOADERS[name].path for name in names}
        assert [str(p) for p in problems if p.path not in paths] == []
        for name in written:
            judge(attack, name, [p for p in problems if p.path == LOADERS[name].path], unharmed[name])
    assert not list(root.rglob("*was-here*"))
    assert not Path("hostile-was-here").exists()


def judge(attack: str, name: str, problems: list[Problem], before: set[Problem]) -> None:
    """Compare the problems of one file with its cell."""
    cell, lines = MATRIX[attack][name], [str(problem) for problem in problems]
    if isinstance(cell, Harmless):
        assert {problem.rule for problem in problems} <= {problem.rule for problem in before} | {"hardware"}, lines
        return
    assert len(problems) == 1, f"{name}: {lines}"
    (problem,) = problems
    assert problem.rule == LOADERS[name].rule
    assert cell in lines[0], name
    assert problem.remedy
    assert len(lines[0]) < 3000
    assert lines[0].isprintable()

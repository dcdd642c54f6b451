"""Test that `--fix` and `--record` preserve an author's edits, line ends and file modes."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from factories import a_claim, a_session, write, write_tree
from headroom import cli, rules
from headroom.io import atomic_write

CLAIM = a_claim(blocks=10)
PAGE = """---
title: A page
hardware: [cpu]
---

It is [2.00×](claim:training.clever#ratio@cpu)
or [9.00×](claim:training.clever#ratio@cpu).
"""
RIGHT = PAGE.replace("2.00×", "1.49×").replace("9.00×", "1.49×")
NOTEBOOK = Path(__file__).parents[1] / "rule_cases/clean/docs/concepts/counting.ipynb"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a tree with a page whose figures are wrong."""
    root = write_tree(tmp_path / "tree", [CLAIM], [a_session(CLAIM, blocks=10)])
    write(root / "docs/page.md", PAGE)
    return root


def fix(root: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run `headroom check --fix`; return its exit code and standard error."""
    code = cli.main(["check", "--fix", "--only", "figures", "--root", str(root)])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("ends", [("\r\n",), ("\n", "\r\n"), ("\r\n", "\r\n", "\n")])
def test_fix_preserves_line_ends(root: Path, ends: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Windows line ends, Unix line ends, or a mix of both."""

    def ended(text: str) -> bytes:
        lines = text.splitlines()
        return "".join(line + ends[i % len(ends)] for i, line in enumerate(lines)).encode()

    (root / "docs/page.md").write_bytes(ended(PAGE))
    assert fix(root, capsys)[0] == 0
    assert (root / "docs/page.md").read_bytes() == ended(RIGHT)


def test_fix_preserves_the_file_mode(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "docs/page.md").chmod(0o640)
    assert fix(root, capsys)[0] == 0
    assert (root / "docs/page.md").read_text("utf-8") == RIGHT
    assert (root / "docs/page.md").stat().st_mode & 0o777 == 0o640


def test_fix_does_not_follow_a_link(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = write(tmp_path / "page.md", PAGE)
    (root / "docs/link.md").symlink_to(outside)
    fix(root, capsys)
    assert (root / "docs/link.md").is_symlink()
    assert outside.read_text("utf-8") == PAGE
    assert (root / "docs/page.md").read_text("utf-8") == RIGHT


@pytest.mark.parametrize("edit", ["more words", "gone"])
@pytest.mark.parametrize("when", ["before it writes", "in the last moment"])
def test_fix_skips_a_page_that_is_saved_meanwhile(
    root: Path, edit: str, when: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page is reported and the exit code is 1; other pages are fixed, and the next call fixes this one."""
    page = root / "docs/page.md"
    write(root / "docs/zoo.md", PAGE)
    name = {"before it writes": "apply", "in the last moment": "_sweep"}[when]
    place: Any = {"apply": rules, "_sweep": atomic_write}[name]
    real, edited = getattr(place, name), []

    def save(*arguments: Any) -> Any:
        if not edited:
            edited.append(1)
            page.unlink() if edit == "gone" else page.write_text(PAGE + "\nmore words\n", "utf-8")
        return real(*arguments)

    monkeypatch.setattr(place, name, save)
    code, err = fix(root, capsys)
    assert code == 1
    assert "docs/page.md: changed during the check, so it was not rewritten; run `headroom check --fix` again" in err
    assert (root / "docs/zoo.md").read_text("utf-8") == RIGHT
    if edit == "gone":
        assert not page.exists()
    else:
        assert page.read_text("utf-8") == PAGE + "\nmore words\n"
        assert fix(root, capsys)[0] == 0
        assert page.read_text("utf-8") == RIGHT + "\nmore words\n"


def test_record_skips_a_notebook_that_is_saved_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebooks = pytest.importorskip("headroom.execution.notebook_run", reason="nbclient is not installed")
    (tmp_path / "checks/registry").mkdir(parents=True)
    path = write(tmp_path / "docs/counting.ipynb", "")
    shutil.copy(NOTEBOOK, path)
    mine = NOTEBOOK.read_text("utf-8").replace("ount", "OUNT", 1)

    def execute(text: str) -> Any:
        path.write_text(mine, "utf-8")
        return notebooks.json.loads(text)

    monkeypatch.setattr(notebooks, "execute", execute)
    assert cli.main(["notebooks", "run", "--record", "--root", str(tmp_path)]) == 1
    assert (
        f"{path} cannot be written (another program changed it in the meantime; it is left as it is)"
        in capsys.readouterr().out
    )
    assert path.read_text("utf-8") == mine

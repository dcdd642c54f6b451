"""What maintainers read about crashes is what the code does."""

import json
import re
from pathlib import Path

import pytest

from headroom.execution import journal, session_lock
from headroom.io.atomic_write import TEMPORARY
from killed_process import RUNS, a_tree, journals, lines, measure

ROOT = Path(__file__).parents[2]
TEXT = (
    (ROOT / "docs/contribute/records.md")
    .read_text("utf-8")
    .partition("## What a crash leaves")[2]
    .partition("\n## ")[0]
)


@pytest.mark.parametrize("name", [TEMPORARY, session_lock.LOCK, f"{journal.FOLDER}/", "tests/crash_safety/"])
def test_names_are_those_of_the_code(name: str) -> None:
    """Where to look for what is left."""
    assert f"`{name}`" in TEXT


def test_the_journal_has_the_form_that_is_shown(tmp_path: Path) -> None:
    """The keys of its three kinds of lines."""
    shown = re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)
    assert shown
    form = [json.loads(line.replace("[…]", "[]").replace("{…}", "{}")) for line in shown[1].splitlines()]
    root = a_tree(tmp_path / "tree")
    assert measure(root).ends()[0] == 0
    (path,) = journals(root)
    head, *runs, end = lines(path)
    assert len(runs) == RUNS
    assert [list(line) for line in form] == [list(head), list(runs[0]), list(end)]
    assert form[2]["outcome"] == end["outcome"]


@pytest.mark.parametrize("outcome", ["completed", "interrupted", "failed", "cut short"])
def test_every_end_is_told(outcome: str) -> None:
    """And none that there is not."""
    assert f"`{outcome}`" in TEXT
    assert f'"{outcome}"' in Path(journal.__file__).read_text("utf-8")

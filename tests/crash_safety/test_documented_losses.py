"""Test that the documentation of crashes agrees with the code."""

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
def test_documented_names_are_those_of_the_code(name: str) -> None:
    assert f"`{name}`" in TEXT


def test_documented_journal_has_the_keys_of_a_real_one(tmp_path: Path) -> None:
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
def test_every_outcome_is_documented(outcome: str) -> None:
    assert f"`{outcome}`" in TEXT
    assert f'"{outcome}"' in Path(journal.__file__).read_text("utf-8")

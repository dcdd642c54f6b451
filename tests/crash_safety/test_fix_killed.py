"""Test `headroom check --fix` killed, or run twice at once: every page has its old or its new content."""

import time
from pathlib import Path

import pytest

from factories import a_session, write, write_tree
from headroom import rules
from killed_process import CLAIM, check_fix, moments, snapshot, temporaries, wait_for

PAGES = 12
FIGURE = "[2.00×](claim:training.clever#ratio@cpu)"
PAGE = (
    f"---\ntitle: A page\nhardware: [cpu]\n---\n\n# A page\n\n{FIGURE}\n\n{'Some words. ' * 800}\n\n{FIGURE} {FIGURE}\n"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a tree whose pages each have three wrong figures, some disk blocks apart."""
    root = write_tree(tmp_path / "tree", [CLAIM], [a_session(CLAIM, blocks=10)])
    for number in range(PAGES):
        write(root / f"docs/page{number:02}.md", PAGE)
    return root


def broken_rules(root: Path) -> set[str]:
    """Return the rules that the tree breaks."""
    return {problem.rule for problem in rules.check(rules.Context.of(root))}


@pytest.mark.parametrize("place", ["anywhere", "as it writes"])
def test_killed_fix_leaves_every_page_old_or_new(root: Path, deep: bool, place: str) -> None:  # noqa: FBT001
    """It breaks no further rule, and the next call fixes the remaining pages."""
    before, broken = snapshot(root), broken_rules(root)
    started = time.monotonic()
    check_fix(root).ends()
    longest = time.monotonic() - started
    after = snapshot(root)
    pages = [name for name in after if after[name] != before[name]]
    assert len(pages) == PAGES
    assert all("2.00×".encode() not in after[name] for name in pages)
    found: set[bool] = set()
    for moment in moments(9, 30 if deep else 4, longest if place == "anywhere" else 0.1):
        for name in pages:
            (root / name).write_bytes(before[name])
        doomed = check_fix(root)
        if place == "as it writes":
            wait_for(lambda: snapshot(root) != before or temporaries(root), doomed)
        time.sleep(moment)
        doomed.killed()
        left = snapshot(root)
        assert left.keys() == before.keys()
        assert all(left[name] in (before[name], after[name]) for name in left)
        assert broken_rules(root) <= broken
        found |= {left[name] == after[name] for name in pages}
    check_fix(root).ends()
    assert snapshot(root) == after
    assert found == {True, False} or not deep


def test_two_fixes_at_once_fix_every_page(root: Path) -> None:
    """Each skips and reports a page that the other has written."""
    both = [check_fix(root) for _ in range(2)]
    ends = [each.ends() for each in both]
    assert all("Traceback" not in err for _, _, err in ends)
    _, _, err = check_fix(root).ends()
    assert "rewrote" not in err
    assert "figures" not in broken_rules(root)
    assert all(PAGE.replace("2.00×", "1.49×") == path.read_text("utf-8") for path in (root / "docs").iterdir())
    assert temporaries(root) == []

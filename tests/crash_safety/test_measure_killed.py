"""Test `headroom measure` killed at random moments: the journal and the tree stay intact."""

import shutil
import time
from functools import partial
from pathlib import Path

import pytest

from headroom.execution.session_plan import plan
from headroom.records import load
from headroom.records.evidence import block_order
from killed_process import (
    RUNS,
    Doomed,
    a_tree,
    assert_whole,
    journals,
    lines,
    lines_of,
    measure,
    moments,
    snapshot,
    wait_for,
)


def all_run(root: Path, seen: frozenset[Path]) -> bool:
    """Return whether a new journal has every run, so that only the evidence is missing."""
    return any(lines_of(path) > RUNS for path in journals(root) if path not in seen)


def assert_journal_has_finished_runs(root: Path, journal: Path, finished: int) -> int:
    """Assert that the journal has every finished run, except perhaps the last, in the planned order."""
    head, *runs = lines(journal)
    runs = [run for run in runs if "journal" not in run]
    assert finished - 1 <= len(runs) <= finished
    slots = plan(load(root), [head["claims"][0]]).slots
    order = [
        (b, p, s.arm, s.control) for b in range(10) for p, s in enumerate(block_order(slots, head["order_seed"], b))
    ]
    assert [(run["block"], run["position"], run["arm"], run["control"]) for run in runs] == order[: len(runs)]
    return len(runs)


def kill_and_look(root: Path, doomed: Doomed, seen: set[Path]) -> None:
    """Kill the process now, and assert that no process is left and the journal is complete."""
    doomed.killed()
    assert doomed.survivors() == []
    log = root.with_name(f"{root.name}.finished")
    finished = len(log.read_text("utf-8").splitlines()) if log.exists() else 0
    log.unlink(missing_ok=True)
    for journal in [path for path in journals(root) if path not in seen]:
        seen.add(journal)
        if lines(journal):
            assert_journal_has_finished_runs(root, journal, finished)


@pytest.mark.parametrize("place", ["anywhere", "at its end"])
def test_kill_at_any_moment_keeps_finished_runs_and_an_intact_tree(tmp_path: Path, deep: bool, place: str) -> None:  # noqa: FBT001
    """The evidence is complete or absent, and the next session runs."""
    root = a_tree(tmp_path / "tree")
    before = snapshot(root)
    longest, seen = 0.03, set[Path]()
    if place == "anywhere":
        started = time.monotonic()
        assert measure(root).ends()[0] == 0
        longest, seen = time.monotonic() - started, set(journals(root))
        (tmp_path / "tree.finished").unlink()
        shutil.rmtree(root / "checks/evidence")
    count = 30 if deep else 4 if place == "anywhere" else 3
    for moment in moments(5, count, longest):
        doomed = measure(root)
        if place == "at its end":
            wait_for(partial(all_run, root, frozenset(seen)), doomed)
        time.sleep(moment)
        kill_and_look(root, doomed, seen)
        assert_whole(root, before)
        if deep:
            assert measure(root).ends()[0] == 0
            seen |= set(journals(root))
            (tmp_path / "tree.finished").unlink()
    code, out, _ = measure(root).ends()
    assert code == 0
    assert Path(out.strip()).is_file()
    assert_whole(root, before)
    assert all(lines(journal)[-1]["journal"] == "end" for journal in journals(root) if lines(journal))

"""`headroom measure` that is killed, asked to end, or met by a second one: what is left of it and of its tree."""

import json
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from doomed import RUNS, Doomed, a_tree, assert_whole, journals, lines, measure, moments, snapshot, wait_for
from headroom.records import load
from headroom.records.evidence import block_order
from headroom.running.planning import plan


def in_the_journal(path: Path) -> int:
    """How many whole lines a journal that may not be there yet holds."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def all_run(root: Path, seen: frozenset[Path]) -> bool:
    """Whether a new journal holds every run, so that only the evidence is to be written."""
    return any(in_the_journal(path) > RUNS for path in journals(root) if path not in seen)


def assert_the_journal_tells_it(root: Path, journal: Path, finished: int) -> int:
    """It holds every run that has finished, but for the one that was just being told, in the order that was planned."""
    head, *runs = lines(journal)
    runs = [run for run in runs if "journal" not in run]
    assert finished - 1 <= len(runs) <= finished
    slots = plan(load(root), [head["claims"][0]]).slots
    order = [
        (b, p, s.arm, s.control) for b in range(10) for p, s in enumerate(block_order(slots, head["order_seed"], b))
    ]
    assert [(run["block"], run["position"], run["arm"], run["control"]) for run in runs] == order[: len(runs)]
    return len(runs)


def kill_and_look(root: Path, doomed: Doomed, told_of: set[Path]) -> None:
    """Kill it now; the tree is whole, the journal complete, and nobody is left."""
    doomed.killed()
    assert doomed.survivors() == []
    log = root.with_name(f"{root.name}.finished")
    finished = len(log.read_text("utf-8").splitlines()) if log.exists() else 0
    log.unlink(missing_ok=True)
    for journal in [path for path in journals(root) if path not in told_of]:
        told_of.add(journal)
        if lines(journal):
            assert_the_journal_tells_it(root, journal, finished)


@pytest.mark.parametrize("place", ["anywhere", "at its end"])
def test_a_kill_at_any_moment_loses_nothing(tmp_path: Path, deep: bool, place: str) -> None:  # noqa: FBT001
    """No file is damaged, evidence is whole or absent, the journal has every finished run, and the next one goes."""
    root = a_tree(tmp_path / "tree")
    begun = time.monotonic()
    assert measure(root).ends()[0] == 0
    longest = time.monotonic() - begun
    (first,) = load(root).sessions
    (root / first.path).unlink()
    before, seen = snapshot(root), set(journals(root))
    (tmp_path / "tree.finished").unlink()
    count = 30 if deep else 4 if place == "anywhere" else 3
    for moment in moments(5, count, longest if place == "anywhere" else 0.03):
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


def test_the_next_session_tells_once_what_was_cut_short(tmp_path: Path) -> None:
    """In one line: how many runs of how many, since when and where, also where the last line is torn."""
    root = a_tree(tmp_path / "tree")
    doomed = measure(root)
    wait_for(lambda: any(in_the_journal(path) > 7 for path in journals(root)), doomed)
    doomed.killed()
    (journal,) = journals(root)
    with journal.open("a", encoding="utf-8") as torn:
        torn.write('{"block": 3, "posi')
    head, *runs = lines(journal)
    code, _, err = measure(root).ends()
    what = f"{len(runs)} of 30 runs of made_up, begun {head['began']}, in {journal}"
    told = f"headroom: journals without an end (a kill, or a full disk): {what}\n"
    assert code == 0
    assert told in err
    assert json.loads(journal.read_text("utf-8").splitlines()[-1]) == {"journal": "end", "outcome": "cut short"}
    code, _, err = measure(root).ends()
    assert "without an end" not in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    """It says so and names the journal, which ends with the signal's name; no process and no evidence is left."""
    root = a_tree(tmp_path / "tree")
    before = snapshot(root)
    doomed = measure(root)
    wait_for(lambda: any(in_the_journal(path) > 3 for path in journals(root)), doomed)
    code, out, err = doomed.killed(number)
    (journal,) = journals(root)
    assert (code, out) == (1, "")
    assert err.endswith(f"headroom: ended by {number.name}; no evidence is written; the runs are in {journal}\n")
    assert "Traceback" not in err
    assert lines(journal)[-1] == {"journal": "end", "outcome": "interrupted", "reason": number.name}
    assert doomed.survivors() == []
    assert snapshot(root) == before


def test_a_second_one_does_not_start(tmp_path: Path) -> None:
    """It names the first, which goes on; when that is killed, the lock goes with it."""
    root = a_tree(tmp_path / "tree")
    first = measure(root, faults={"wait": 0.2})
    wait_for(lambda: journals(root), first)
    code, _, err = measure(root).ends()
    assert code == 2
    assert f"headroom: process {first.process.pid} is measuring in this tree" in err
    assert len(journals(root)) == 1
    assert first.process.poll() is None
    first.killed()
    assert measure(root).ends()[0] == 0

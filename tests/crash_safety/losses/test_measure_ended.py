"""`headroom measure` after a kill, at a signal, and beside a second one."""

import json
import signal
from pathlib import Path

import pytest

from killed_process import a_tree, journals, lines, lines_of, measure, snapshot, wait_for


def test_the_next_session_tells_once_what_was_cut_short(tmp_path: Path) -> None:
    """In one line: how many runs of how many, since when and where, also where the last line is torn."""
    root = a_tree(tmp_path / "tree")
    doomed = measure(root)
    wait_for(lambda: any(lines_of(path) > 7 for path in journals(root)), doomed)
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
    wait_for(lambda: any(lines_of(path) > 3 for path in journals(root)), doomed)
    code, out, err = doomed.killed(number)
    (journal,) = journals(root)
    assert (code, out) == (1, "")
    assert err.endswith(f"headroom: ended by {number.name}; no evidence is written; the runs are in {journal}\n")
    assert "Traceback" not in err
    assert lines(journal)[-1] == {"journal": "end", "outcome": "interrupted", "reason": number.name}
    assert doomed.survivors() == []
    assert snapshot(root) == before


def test_a_signal_that_comes_when_all_is_done_takes_nothing_back(tmp_path: Path) -> None:
    """The evidence is there, and so it is named, and the code is 0."""
    root = a_tree(tmp_path / "tree")
    code, out, err = measure(root, faults={"late": True}).ends()
    assert (code, "ended by" in err) == (0, False)
    assert Path(out.strip()).is_file()


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

"""Test `headroom measure` after a kill, after a signal, and during another session."""

import json
import signal
from pathlib import Path

import pytest

from killed_process import a_tree, journals, lines, lines_of, measure, snapshot, wait_for


def test_next_session_reports_an_unfinished_journal_once(tmp_path: Path) -> None:
    """Also if its last line is incomplete."""
    root = a_tree(tmp_path / "tree")
    doomed = measure(root)
    wait_for(lambda: any(lines_of(path) > 7 for path in journals(root)), doomed)
    doomed.killed()
    (journal,) = journals(root)
    with journal.open("a", encoding="utf-8") as torn:
        torn.write('{"block": 3, "posi')
    head, *runs = lines(journal)
    code, _, err = measure(root).ends()
    what = f"{len(runs)} of 30 runs of made_up, started {head['began']}, in {journal}"
    assert code == 0
    assert f"headroom: earlier sessions did not finish (killed, or disk full): {what}\n" in err
    assert json.loads(journal.read_text("utf-8").splitlines()[-1]) == {"journal": "end", "outcome": "cut short"}
    code, _, err = measure(root).ends()
    assert "did not finish" not in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_the_session_with_its_journal_and_without_evidence(tmp_path: Path, number: signal.Signals) -> None:
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


def test_signal_after_the_evidence_is_written_is_no_failure(tmp_path: Path) -> None:
    root = a_tree(tmp_path / "tree")
    code, out, err = measure(root, faults={"late": True}).ends()
    assert (code, "ended by" in err) == (0, False)
    assert Path(out.strip()).is_file()


def test_second_session_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    root = a_tree(tmp_path / "tree")
    first = measure(root, faults={"wait": 0.2})
    wait_for(lambda: journals(root), first)
    code, _, err = measure(root).ends()
    assert code == 2
    assert f"headroom: process {first.process.pid} is measuring in this tree" in err
    assert len(journals(root)) == 1
    assert first.process.poll() is None
    first.killed()
    code, _, err = measure(root).ends()
    assert code == 0, err

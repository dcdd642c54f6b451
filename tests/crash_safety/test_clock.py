"""Test a clock that is behind or adjusted: no session is dated back, and durations stay correct."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from factories import SNIPPET, a_run_record, a_session, keep, write
from headroom import cli
from headroom.execution import session_lock
from headroom.io import git_history
from headroom.records import Evidence, load
from killed_process import CLAIM, a_tree, journals, lines, measure, snapshot

NOON = "2026-11-21T12:00:00"


def at(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Stop the clock at this moment."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.fromisoformat(moment).replace(tzinfo=tz)

    monkeypatch.setattr(session_lock, "datetime", Clock)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a tree with a claim to measure."""
    return a_tree(tmp_path / "tree")


@pytest.mark.parametrize("moment", ["2026-11-19T23:59:59", "1970-01-01T00:00:00"])
def test_clock_behind_a_session_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """The message names both days and the file, because either can be wrong."""
    path = keep(root, a_session(CLAIM, blocks=10)).relative_to(root)
    at(monkeypatch, moment)
    message = f"the clock shows {moment[:10]}, but {path} is dated 2026-11-20; set the clock, or correct the date"
    with pytest.raises(session_lock.GuardError, match=message):
        session_lock.now(load(root))


def test_clock_behind_a_session_of_the_same_day_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = keep(root, a_session(CLAIM, blocks=10, time="11:00:00")).relative_to(root)
    at(monkeypatch, "2026-11-20T10:59:59")
    with pytest.raises(
        session_lock.GuardError, match=f"2026-11-20 10:59:59, but {path} is dated 2026-11-20 11:00:00; set the"
    ):
        session_lock.now(load(root))
    at(monkeypatch, "2026-11-20T11:00:00")
    assert session_lock.now(load(root)).hour == 11


def test_clock_behind_a_run_record_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root / "snippets/training/clever.py", SNIPPET)
    write(root / "checks/runs/training/clever/cpu.json", a_run_record(date="2026-11-22"))
    at(monkeypatch, NOON)
    with pytest.raises(
        session_lock.GuardError, match="but the run record of training/clever on cpu is dated 2026-11-22"
    ):
        session_lock.now(load(root))


def test_clock_behind_the_last_commit_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_history, "last_commit_day", lambda _root: "2026-11-22")
    at(monkeypatch, NOON)
    with pytest.raises(session_lock.GuardError, match="but the last commit is dated 2026-11-22"):
        session_lock.now(load(root))


def test_day_of_the_newest_record_is_accepted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several sessions per day are usual."""
    keep(root, a_session(CLAIM, blocks=10))
    at(monkeypatch, "2026-11-20T00:00:00")
    assert f"{session_lock.now(load(root)):%H:%M}" == "00:00"


def test_snippets_do_not_run_for_a_record_with_a_wrong_date(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("psutil", reason="what runs snippets is not installed")
    write(root / "snippets/training/clever.py", SNIPPET)
    write(root / "checks/runs/training/clever/cpu.json", a_run_record(date="2026-11-22"))
    before = snapshot(root)
    at(monkeypatch, NOON)
    assert cli.main(["snippets", "run", "--record", "--root", str(root)]) == 2
    assert "headroom: the clock shows 2026-11-21, but the run record of" in capsys.readouterr().err
    assert snapshot(root) == before


class TestCommand:
    """`headroom measure` with a fake clock."""

    def test_clock_that_is_behind_is_refused_before_any_run(self, root: Path) -> None:
        keep(root, a_session(CLAIM, blocks=10))
        before = snapshot(root)
        code, out, err = measure(root, faults={"clock": "2026-01-01T12:00:00"}).ends()
        assert (code, out) == (2, "")
        assert "headroom: the clock shows 2026-01-01, but checks/evidence/made_up/cpu-2026-11-20-" in err
        assert journals(root) == []
        assert snapshot(root) == before

    @pytest.mark.parametrize("jump", [-86400.0, 7200.0])
    def test_adjusted_clock_is_reported_and_durations_stay_correct(self, root: Path, jump: float) -> None:
        code, out, err = measure(root, faults={"clock": NOON, "jump": jump}).ends()
        assert code == 0
        path = Path(out.strip())
        assert f"headroom: the clock was set by {jump:+.0f} s meanwhile; measure again if the date of {path} is" in err
        assert "cpu-2026-11-21-" in path.name
        evidence = Evidence.model_validate_json(path.read_text("utf-8"))
        assert (evidence.date, evidence.time) == ("2026-11-21", "12:00:00")
        runs = evidence.runs
        times = [moment for run in runs for moment in (run.started, run.ended)]
        assert times == sorted(times)
        assert 0 <= times[0] < times[-1] < timedelta(minutes=1).total_seconds()
        (journal,) = journals(root)
        assert "-20261121T120000-" in journal.name
        end = lines(journal)[-1]
        assert (end["outcome"], end["evidence"], end["clock_moved_seconds"]) == ("completed", str(path), jump)

    def test_two_sessions_of_one_second_have_separate_files(self, root: Path) -> None:
        ends = [measure(root, "--json", faults={"clock": NOON, "order": order}).ends() for order in (7, 8)]
        assert [code for code, _, _ in ends] == [0, 0]
        assert len({json.loads(out)["evidence"] for _, out, _ in ends}) == 2
        assert len({path.name[:24] for path in journals(root)}) == 1
        assert len(journals(root)) == 2
        assert len(load(root).sessions) == 2

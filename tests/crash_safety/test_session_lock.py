"""Test the guards of a session within one process: signals, journal and probes."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from factories import SNIPPET, write
from headroom import cli
from headroom.execution import session_lock
from headroom.execution.journal import Journal
from headroom.io.atomic_write import UnwritableError
from killed_process import a_tree


@pytest.fixture(autouse=True)
def _usual_handlers() -> Iterator[None]:
    """Set default signal handlers, because nohup and shells ignore some signals."""
    before = {
        number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_further_signals_do_not_interrupt_the_clean_up() -> None:
    with session_lock.stop_on_signals():
        with pytest.raises(session_lock.Stopped, match="SIGTERM"):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL


def test_ignored_signal_stays_ignored() -> None:
    """A session that was started with nohup survives its terminal."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with session_lock.stop_on_signals():
        signal.raise_signal(signal.SIGHUP)


def test_journal_is_never_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path / "journal.jsonl", "of another session\n")
    with pytest.raises(UnwritableError, match=r"journal\.jsonl cannot be written \(File exists\)"), Journal(path, {}):
        pass
    assert path.read_text("utf-8") == "of another session\n"


def test_unwritable_runs_folder_is_reported_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("psutil", reason="what runs snippets is not installed")
    root = a_tree(tmp_path)
    write(root / "snippets/training/clever.py", SNIPPET)
    write(root / "checks/runs", "a file")
    assert cli.main(["snippets", "run", "--record", "--root", str(root)]) == 1
    assert capsys.readouterr() == ("", f"headroom: {root}/checks/runs cannot be written (Not a directory)\n")

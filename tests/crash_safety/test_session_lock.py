"""What holds around a session, within one process."""

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
    """Whatever the tests were started by; nohup ignores one signal, and a shell another."""
    before = {
        number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_end_is_not_interrupted() -> None:
    """After the first signal no other one is heard until all is put away."""
    with session_lock.stop_on_signals():
        with pytest.raises(session_lock.Stopped, match="SIGTERM"):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL


def test_a_signal_that_is_ignored_stays_so() -> None:
    """A session that was started with nohup outlives its terminal."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with session_lock.stop_on_signals():
        signal.raise_signal(signal.SIGHUP)


def test_a_journal_is_never_written_over(tmp_path: Path) -> None:
    """One of the same name is an error, and stays as it is."""
    path = write(tmp_path / "journal.jsonl", "of another session\n")
    with pytest.raises(UnwritableError, match=r"journal\.jsonl cannot be written \(File exists\)"), Journal(path, {}):
        pass
    assert path.read_text("utf-8") == "of another session\n"


def test_no_snippet_runs_for_a_record_that_has_no_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is found out first."""
    pytest.importorskip("psutil", reason="what runs snippets is not installed")
    root = a_tree(tmp_path)
    write(root / "snippets/training/clever.py", SNIPPET)
    write(root / "checks/runs", "a file")
    assert cli.main(["snippets", "run", "--record", "--root", str(root)]) == 1
    assert capsys.readouterr() == ("", f"headroom: {root}/checks/runs cannot be written (Not a directory)\n")

"""The short form of the fuzzer, and that it can find something."""

import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.records import Fuzzer, report

ROOT = Path(__file__).parents[1]


def fuzzed(folder: Path, executions: int, seed: int = 1) -> Fuzzer:
    """A fuzzer that has checked so many trees."""
    fuzzer = Fuzzer(folder / "tree", seed, folder / "kept")
    for _ in range(executions):
        fuzzer.once()
    return fuzzer


def test_nothing_fails_on_changed_trees(tmp_path: Path, *, deep: bool) -> None:
    """Some problems of most rules are found, and no failure."""
    fuzzer = fuzzed(tmp_path, 3000 if deep else 40)
    assert fuzzer.crashes == []
    assert len(fuzzer.problems) > 8
    assert fuzzer.problems.total() > 30


def test_the_same_seed_gives_the_same_trees(tmp_path: Path) -> None:
    """So that a failure can be repeated."""
    first, second = (fuzzed(tmp_path / name, 8, seed=5) for name in ("a", "b"))
    assert list(report(first)) == list(report(second))


def test_a_failure_is_kept_with_its_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the tree is put right for the next."""

    def fail(_: Path) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("headroom.rules.context.load_pages", fail)
    fuzzer = fuzzed(tmp_path, 2)
    assert len(fuzzer.crashes) == 2
    for number in (0, 1):
        kept = tmp_path / "kept" / f"1-{number}"
        assert "ZeroDivisionError" in (kept / "TRACEBACK.txt").read_text("utf-8")
        assert any(path.is_file() and path.name != "TRACEBACK.txt" for path in kept.rglob("*"))
    assert "FAILED" in "\n".join(report(fuzzer))
    assert {name: (fuzzer.root / name).read_bytes() for name in fuzzer.clean} == fuzzer.clean


def test_the_script_runs_for_its_time_and_reports() -> None:
    """With progress on stderr, and a code that says that all was well."""
    command = [sys.executable, str(ROOT / "tests/fuzz/records.py"), "--seconds", "1", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "trees checked with seed 3" in done.stdout
    assert "0 failures" in done.stderr

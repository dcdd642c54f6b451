"""Test atomic writes: after any failure or kill, a file has its old or its new content."""

import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headroom.io.atomic_write import TEMPORARY, UnwritableError, add, probe, write_atomic
from killed_process import start, temporaries

ROOT = Path(__file__).parents[2]
# Writes one text and another into a file, for ever, and adds files that are never there twice.
WRITER = """
import itertools, pathlib, sys
from headroom.io.atomic_write import add, write_atomic
folder = pathlib.Path(sys.argv[1])
for number in itertools.count():
    write_atomic(folder / "file", "ab"[number % 2] * 200_000)
    add(folder / f"{sys.argv[2]}-{number}", "c" * 200_000)
"""


def test_killed_writer_leaves_old_or_new_content(tmp_path: Path, deep: bool) -> None:  # noqa: FBT001
    """Added files are complete or absent."""
    rng = random.Random(3)  # noqa: S311 - moments, not secrets
    for number in range(30 if deep else 6):
        doomed = start(["-c", WRITER, str(tmp_path), str(number)])
        while not (tmp_path / f"{number}-0").exists():
            assert doomed.process.poll() is None
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.1))
        doomed.killed()
        assert (tmp_path / "file").read_text("utf-8") in ("a" * 200_000, "b" * 200_000)
        added = [path for path in tmp_path.iterdir() if path.name[0] not in ".f"]
        assert all(path.read_text("utf-8") == "c" * 200_000 for path in added)


STEPS = {
    "mkstemp": "tempfile.mkstemp",
    "fdopen": "os.fdopen",
    "fsync": "os.fsync",
    "chmod": "pathlib.Path.chmod",
    "stat": "pathlib.Path.stat",
}


@pytest.mark.parametrize("old", ["old", None])
@pytest.mark.parametrize("step", [*STEPS, "replace"])
def test_failed_system_call_leaves_the_old_file_and_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, old: str | None
) -> None:
    if old is not None:
        (tmp_path / "file").write_text(old)
    refused(tmp_path, monkeypatch, write_atomic, STEPS.get(step, "pathlib.Path.replace"))
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == ({} if old is None else {"file": old})


@pytest.mark.parametrize("step", [*STEPS, "link"])
def test_failed_system_call_adds_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    refused(tmp_path, monkeypatch, add, STEPS.get(step, "os.link"))
    assert list(tmp_path.iterdir()) == []


def refused(folder: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[..., None], step: str) -> None:
    """Write a file while one system call reports a full disk."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(step, fail)
        with pytest.raises(UnwritableError, match=r"/file cannot be written \(No space left on device\)"):
            write(folder / "file", "new")


def test_add_never_replaces_a_file(tmp_path: Path) -> None:
    """Adding the same content again is no error."""
    add(tmp_path / "file", "one\n")
    add(tmp_path / "file", "one\n")
    with pytest.raises(UnwritableError, match="a file of this name exists with other content"):
        add(tmp_path / "file", "two\n")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "one\n")]


def test_temporary_files_older_than_an_hour_are_deleted(tmp_path: Path) -> None:
    """The writer of a younger file may be alive; files with other names are kept."""
    for name in (f".old{TEMPORARY}", f".young{TEMPORARY}", ".mine.tmp", f"mine{TEMPORARY}"):
        (tmp_path / name).write_text("x")
        if "young" not in name:
            os.utime(tmp_path / name, (0, time.time() - 3700))
    write_atomic(tmp_path / "file", "x")
    assert {path.name for path in tmp_path.iterdir()} == {"file", f".young{TEMPORARY}", ".mine.tmp", f"mine{TEMPORARY}"}


def test_git_ignores_temporary_files() -> None:
    names = [f"docs/training/.cpu.md.a1b2{TEMPORARY}", f"checks/evidence/x/.cpu.json.a1b2{TEMPORARY}", "docs/index.md"]
    done = subprocess.run(["git", "check-ignore", *names], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.split() == names[:2]


@pytest.mark.parametrize("below", [".", "a/b"])
def test_probe_leaves_neither_file_nor_folder(tmp_path: Path, below: str) -> None:
    probe(tmp_path / below)
    assert list(tmp_path.iterdir()) == []
    assert temporaries(tmp_path) == []


def test_probe_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnwritableError, match=r"/file cannot be written \(Not a directory\)"):
        probe(tmp_path / "file" / "below")

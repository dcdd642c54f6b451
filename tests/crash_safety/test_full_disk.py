"""Test full disks and read-only trees: a session refuses to start, or saves its evidence elsewhere."""

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from factories import a_session, write
from headroom.execution.journal import Journal
from headroom.records import Evidence, load
from headroom.records.paths import evidence_path, evidence_text
from killed_process import CLAIM, RUNS, Doomed, a_tree, check_fix, journals, lines, measure, snapshot, temporaries

PAGE = f"---\ntitle: A page\nhardware: [cpu]\n---\n\n[2.00×](claim:training.clever#ratio@cpu) {'words ' * 2000}\n"
SPACES = ["unshare", "--mount", "--map-root-user"] if os.geteuid() else ["unshare", "--mount"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a tree with a claim to measure."""
    return a_tree(tmp_path / "tree")


def assert_refused(root: Path, doomed: Doomed, what: str) -> None:
    """Assert that the session names the unwritable path in one line, and makes no run."""
    before = snapshot(root)
    code, out, err = doomed.ends()
    assert (code, out, err) == (1, "", f"headroom: {what}\n")
    assert not root.with_name("tree.finished").exists()
    assert snapshot(root) == before
    assert temporaries(root) == []


class TestBeforeASession:
    """Unwritable places are found before anything is measured."""

    def test_full_disk_for_the_evidence_is_refused(self, root: Path) -> None:
        write(root / "checks/evidence/keep.json", "")
        doomed = measure(root, faults={"full": "/checks/evidence"})
        assert_refused(root, doomed, f"{root}/checks/evidence cannot be written (No space left on device)")
        assert journals(root) == []

    def test_full_disk_for_the_journal_is_refused(self, root: Path) -> None:
        doomed = measure(root, faults={"full": "/.cache/journals"})
        code, _, err = doomed.ends()
        assert code == 1
        assert err.splitlines()[-1].startswith(f"headroom: {root}/.cache/journals/made_up-")
        assert "cannot be written (No space left on device)" in err
        assert not root.with_name("tree.finished").exists()

    def test_out_that_is_a_file_is_refused(self, root: Path, tmp_path: Path) -> None:
        write(tmp_path / "out", "mine")
        doomed = measure(root, "--out", str(tmp_path / "out"))
        assert_refused(root, doomed, f"{tmp_path}/out cannot be written (Not a directory)")
        assert (tmp_path / "out").read_text() == "mine"

    def test_read_only_out_is_refused(self, root: Path, tmp_path: Path) -> None:
        """Root ignores permissions, so root gets a read-only mount instead."""
        out = tmp_path / "out"
        out.mkdir()
        command, reason = read_only(out)
        doomed = measure(root, "--out", str(out), before=command)
        assert_refused(root, doomed, f"{out} cannot be written ({reason})")

    def test_read_only_tree_is_refused(self, root: Path) -> None:
        """The lock is the first file that is written."""
        command, reason = read_only(root)
        doomed = measure(root, before=command)
        assert_refused(root, doomed, f"{root}/.cache/measure.lock cannot be written ({reason})")


def read_only(folder: Path) -> tuple[list[str], str]:
    """Make a folder read-only; return the command to call through, and the expected reason."""
    if os.geteuid():
        folder.chmod(0o555)
        return [], "Permission denied"
    command = f'mount --bind "{folder}" "{folder}" && mount -o remount,bind,ro "{folder}" && exec "$@"'
    return mounted(command), "Read-only file system"


def mounted(script: str) -> list[str]:
    """Return a command that runs this script, and `"$@"` in it, with private mounts."""
    through = [*SPACES, "sh", "-c"]
    tried = [*through, "mount -t tmpfs none /mnt"]
    if not shutil.which("unshare") or subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("mounts are not permitted here; tests with limits and injected faults cover this")
    return [*through, script, "sh"]


class TestAfterASession:
    """Evidence is saved to any folder that has space."""

    def test_evidence_is_saved_next_to_the_journal(self, root: Path) -> None:
        """The message names the file, which can be moved into the tree."""
        before = snapshot(root)
        code, out, err = measure(root, faults={"full": "/made_up/"}).ends()
        (journal,) = journals(root)
        (saved,) = journal.parent.glob("*.json")
        place = root / "checks/evidence/made_up" / saved.name
        message = f"{place} cannot be written (No space left on device); the evidence is saved as {saved}: "
        assert (code, out) == (1, "")
        assert f"headroom: {message}free space, and move it to {place}; the runs are in {journal}\n" in err
        assert lines(journal)[-1]["outcome"] == "failed"
        assert snapshot(root) == before
        shutil.move(saved, place)
        assert len(load(root).sessions) == 1
        assert load(root).problems == ()

    def test_evidence_is_printed_if_it_can_be_saved_nowhere(self, root: Path, tmp_path: Path) -> None:
        """A limit on the size of files stops the journal midway."""
        before = snapshot(root)
        code, out, err = measure(root, faults={"largest": 6000}, TMPDIR=str(tmp_path)).ends()
        assert code == 1
        evidence = Evidence.model_validate_json(out)
        assert evidence_text(evidence) == out
        assert f"free space, and save it as {root / evidence_path(evidence, out)}" in err
        assert "journal not written (File too large)" in err
        (journal,) = journals(root)
        runs = lines(journal)[1:]
        assert 0 < len(runs) < RUNS == len(evidence.runs)
        assert runs == [run.model_dump(mode="json") for run in evidence.runs][: len(runs)]
        assert snapshot(root) == before
        assert temporaries(tmp_path) == []
        code, _, err = measure(root).ends()
        assert code == 0
        assert f"{len(runs)} of 30 runs" in err

    def test_disk_that_fills_up_meanwhile_does_not_end_the_session(self, root: Path) -> None:
        """Only the journal is on this disk; the evidence is complete."""
        (root / ".cache").mkdir()
        small = mounted(f'mount -t tmpfs -o size=8k none "{root}/.cache" && exec "$@"')
        code, out, err = measure(root, before=small).ends()
        assert code == 0
        assert "journal not written (No space left on device)" in err
        assert len(Evidence.model_validate_json(Path(out.strip()).read_text("utf-8")).runs) == RUNS
        assert load(root).problems == ()


@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    """Yield a function that limits the size of files of this process."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_journal_writes_missing_lines_when_there_is_space_again(tmp_path: Path, limit: Callable[[int], None]) -> None:
    runs = a_session(CLAIM, blocks=30).runs
    with Journal(tmp_path / "journal.jsonl", {"benchmark": "made_up"}) as journal:
        limit(5000)
        errors = [journal.add(run) for run in runs[:-1]]
        limit(resource.RLIM_INFINITY)
        errors.append(journal.add(runs[-1]))
        journal.complete(tmp_path / "evidence.json")
    full = errors.index("File too large")
    assert 0 < full < 20
    assert errors == ["" if i < full or i == len(runs) - 1 else "File too large" for i in range(len(runs))]
    head, *found, end = lines(tmp_path / "journal.jsonl")
    assert found == [run.model_dump(mode="json") for run in runs]
    assert (head["journal"], end["outcome"]) == ("session", "completed")


class TestFix:
    """`headroom check --fix` on a full disk."""

    @pytest.fixture
    def root(self, root: Path) -> Path:
        """Return the tree with a page that is larger than the disk."""
        text = evidence_text(evidence := a_session(CLAIM, blocks=10))
        write(root / evidence_path(evidence, text), text)
        write(root / "docs/page.md", PAGE)
        return root

    def test_file_size_limit_leaves_the_page_unchanged(self, root: Path) -> None:
        before = snapshot(root)
        code, out, err = check_fix(root, {"largest": 6000}).ends()
        assert (code, out) == (1, "")
        assert err == f"headroom: {root}/docs/page.md cannot be written (File too large)\n"
        assert snapshot(root) == before
        assert temporaries(root) == []

    def test_full_disk_leaves_the_page_unchanged(self, root: Path, tmp_path: Path) -> None:
        """The disk has space for one copy of the page, but not for two."""
        docs, aside, left = root / "docs", tmp_path / "aside", tmp_path / "left"
        shutil.copytree(docs, aside)
        left.mkdir()
        small = mounted(
            f'mount -t tmpfs -o size=40k none "{docs}" && cp "{aside}/page.md" "{docs}" '
            f'&& {{ head -c 1M /dev/zero > "{docs}/.rest"; "$@"; code=$?; cp -a "{docs}/." "{left}"; exit $code; }}'
        )
        code, _, err = check_fix(root, before=small).ends()
        assert code == 1
        assert err.endswith(f"headroom: {docs}/page.md cannot be written (No space left on device)\n")
        assert sorted(path.name for path in left.iterdir()) == [".rest", "page.md"]
        assert (left / "page.md").read_text("utf-8") == PAGE

    def test_read_only_folder_leaves_the_page_unchanged(self, root: Path) -> None:
        command, reason = read_only(root / "docs")
        before = snapshot(root)
        code, out, err = check_fix(root, before=command).ends()
        assert (code, out, err) == (1, "", f"headroom: {root}/docs/page.md cannot be written ({reason})\n")
        assert snapshot(root) == before

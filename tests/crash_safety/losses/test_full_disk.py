"""A full disk and a tree that cannot be written: a session finds out before it measures, or saves what it measured."""

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
    """A tree with a claim to measure."""
    return a_tree(tmp_path / "tree")


def assert_refused(root: Path, doomed: Doomed, what: str) -> None:
    """The session says in one line what cannot be written, and no run was made."""
    before = snapshot(root)
    code, out, err = doomed.ends()
    assert (code, out, err) == (1, "", f"headroom: {what}\n")
    assert not root.with_name("tree.finished").exists()
    assert snapshot(root) == before
    assert temporaries(root) == []


class TestBeforeASession:
    """What cannot be written is found before anything is measured."""

    def test_where_the_evidence_goes_is_full(self, root: Path) -> None:
        """Nothing is measured for a file that has no place."""
        write(root / "checks/evidence/keep.json", "")
        doomed = measure(root, faults={"full": "/checks/evidence"})
        assert_refused(root, doomed, f"{root}/checks/evidence cannot be written (No space left on device)")
        assert journals(root) == []

    def test_where_the_journal_goes_is_full(self, root: Path) -> None:
        """Nor without a journal."""
        doomed = measure(root, faults={"full": "/.cache/journals"})
        code, _, err = doomed.ends()
        assert code == 1
        assert err.splitlines()[-1].startswith(f"headroom: {root}/.cache/journals/made_up-")
        assert "cannot be written (No space left on device)" in err
        assert not root.with_name("tree.finished").exists()

    def test_out_is_a_file(self, root: Path, tmp_path: Path) -> None:
        """A folder was meant."""
        write(tmp_path / "out", "mine")
        doomed = measure(root, "--out", str(tmp_path / "out"))
        assert_refused(root, doomed, f"{tmp_path}/out cannot be written (Not a directory)")
        assert (tmp_path / "out").read_text() == "mine"

    def test_out_has_no_permission(self, root: Path, tmp_path: Path) -> None:
        """Permissions bind everybody but root, for whom a file system that is only read does the same."""
        out = tmp_path / "out"
        out.mkdir()
        command, reason = read_only(out)
        doomed = measure(root, "--out", str(out), before=command)
        assert_refused(root, doomed, f"{out} cannot be written ({reason})")

    def test_the_tree_has_no_permission(self, root: Path) -> None:
        """The first thing that is written is the lock."""
        command, reason = read_only(root)
        doomed = measure(root, before=command)
        assert_refused(root, doomed, f"{root}/.cache/measure.lock cannot be written ({reason})")


def read_only(folder: Path) -> tuple[list[str], str]:
    """Make a folder one that cannot be written: what to call a command through, and the reason that it will find."""
    if os.geteuid():
        folder.chmod(0o555)
        return [], "Permission denied"
    command = f'mount --bind "{folder}" "{folder}" && mount -o remount,bind,ro "{folder}" && exec "$@"'
    return mounted(command), "Read-only file system"


def mounted(script: str) -> list[str]:
    """What to call a command through, `"$@"` in this script, for it to have mounts of its own."""
    through = [*SPACES, "sh", "-c"]
    tried = [*through, "mount -t tmpfs none /mnt"]
    if not shutil.which("unshare") or subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("mounts are not permitted here; limits and injected faults stand in for them")
    return [*through, script, "sh"]


class TestAfterASession:
    """What was measured is saved wherever there is room."""

    def test_the_place_of_the_evidence_is_full(self, root: Path) -> None:
        """It lies beside the journal; the message says where, and it is what belongs into the tree."""
        before = snapshot(root)
        code, out, err = measure(root, faults={"full": "/made_up/"}).ends()
        (journal,) = journals(root)
        (saved,) = journal.parent.glob("*.json")
        place = root / "checks/evidence/made_up" / saved.name
        said = f"{place} cannot be written (No space left on device); the evidence is saved as {saved}: "
        assert (code, out) == (1, "")
        assert f"headroom: {said}make room, and move it to {place}; the runs are in {journal}\n" in err
        assert lines(journal)[-1]["outcome"] == "failed"
        assert snapshot(root) == before
        shutil.move(saved, place)
        assert len(load(root).sessions) == 1
        assert load(root).problems == ()

    def test_the_whole_disk_is_full(self, root: Path, tmp_path: Path) -> None:
        """A limit on the size of files stops the journal midway and the evidence everywhere: it is printed."""
        before = snapshot(root)
        code, out, err = measure(root, faults={"largest": 6000}, TMPDIR=str(tmp_path)).ends()
        assert code == 1
        evidence = Evidence.model_validate_json(out)
        assert evidence_text(evidence) == out
        assert f"make room, and save it as {root / evidence_path(evidence, out)}" in err
        assert "no journal (File too large)" in err
        (journal,) = journals(root)
        runs = lines(journal)[1:]
        assert 0 < len(runs) < RUNS == len(evidence.runs)
        assert runs == [run.model_dump(mode="json") for run in evidence.runs][: len(runs)]
        assert snapshot(root) == before
        assert temporaries(tmp_path) == []
        code, _, err = measure(root).ends()
        assert code == 0
        assert f"{len(runs)} of 30 runs" in err

    def test_a_disk_that_fills_up_meanwhile_ends_no_session(self, root: Path) -> None:
        """Where only the journal lies on it: that is told, and the evidence is complete."""
        (root / ".cache").mkdir()
        small = mounted(f'mount -t tmpfs -o size=8k none "{root}/.cache" && exec "$@"')
        code, out, err = measure(root, before=small).ends()
        assert code == 0
        assert "no journal (No space left on device)" in err
        assert len(Evidence.model_validate_json(Path(out.strip()).read_text("utf-8")).runs) == RUNS
        assert load(root).problems == ()


@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    """Sets how large a file of this process may grow."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_journal_catches_up_when_there_is_room_again(tmp_path: Path, limit: Callable[[int], None]) -> None:
    """Lines that a full disk refused come before the next one, whole, and in their order."""
    runs = a_session(CLAIM, blocks=30).runs
    with Journal(tmp_path / "journal.jsonl", {"benchmark": "made_up"}) as journal:
        limit(5000)
        said = [journal.add(run) for run in runs[:-1]]
        limit(resource.RLIM_INFINITY)
        said.append(journal.add(runs[-1]))
        journal.complete(tmp_path / "evidence.json")
    full = said.index("File too large")
    assert 0 < full < 20
    assert said == ["" if i < full or i == len(runs) - 1 else "File too large" for i in range(len(runs))]
    head, *found, end = lines(tmp_path / "journal.jsonl")
    assert found == [run.model_dump(mode="json") for run in runs]
    assert (head["journal"], end["outcome"]) == ("session", "completed")


class TestFix:
    """`headroom check --fix` where there is no room."""

    @pytest.fixture
    def root(self, root: Path) -> Path:
        """With a page to mend that is larger than the disk."""
        text = evidence_text(evidence := a_session(CLAIM, blocks=10))
        write(root / evidence_path(evidence, text), text)
        write(root / "docs/page.md", PAGE)
        return root

    def test_a_full_disk_leaves_the_page(self, root: Path) -> None:
        """One line names it and says why, and the code is 1."""
        before = snapshot(root)
        code, out, err = check_fix(root, {"largest": 6000}).ends()
        assert (code, out) == (1, "")
        assert err == f"headroom: {root}/docs/page.md cannot be written (File too large)\n"
        assert snapshot(root) == before
        assert temporaries(root) == []

    def test_a_disk_that_is_really_full_leaves_the_page(self, root: Path, tmp_path: Path) -> None:
        """One with room for the page, and not for a second."""
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

    def test_a_tree_that_cannot_be_written_is_left(self, root: Path) -> None:
        """As above."""
        command, reason = read_only(root / "docs")
        before = snapshot(root)
        code, out, err = check_fix(root, before=command).ends()
        assert (code, out, err) == (1, "", f"headroom: {root}/docs/page.md cannot be written ({reason})\n")
        assert snapshot(root) == before

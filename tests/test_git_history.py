"""Test reading the last commit and its date, without running anything that a repository configures."""

import os
import subprocess
from datetime import datetime, tzinfo
from pathlib import Path

import pytest

from headroom.io import git_history


def git(folder: Path, *words: str, seconds: int = 0) -> None:
    """Call git in a folder, with the clock at so many seconds after 1970."""
    who = {f"GIT_{role}_{what}": "nobody@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    when = {f"GIT_{role}_DATE": f"@{seconds} +0000" for role in ("AUTHOR", "COMMITTER")}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, env={**os.environ, **who, **when, **alone}
    )


def commit(folder: Path, seconds: int) -> None:
    """Make an empty commit."""
    git(folder, "commit", "--allow-empty", "--no-gpg-sign", "-m", "committer <x> 1 +0000", seconds=seconds)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository whose last commit is dated 2001-09-09, UTC."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, 86400)
    commit(folder, 1_000_000_000)
    return folder


def test_day_is_that_of_the_checked_out_commit(repository: Path) -> None:
    assert git_history.last_commit_day(repository) == "2001-09-09"
    git(repository, "checkout", "-q", "HEAD~1")
    assert git_history.last_commit_day(repository) == "1970-01-02"


def test_hash_is_that_of_git_rev_parse(repository: Path) -> None:
    command = ["git", "rev-parse", "HEAD"]
    head = subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout.strip()
    assert git_history.last_commit(repository) == git_history.Commit(head, "2001-09-09")


def test_shallow_clone_and_second_worktree_have_a_day(repository: Path, tmp_path: Path) -> None:
    """CI makes shallow clones; in a second worktree, `.git` is a file."""
    git(tmp_path, "clone", "-q", "--depth", "1", repository.as_uri(), "shallow")
    git(repository, "worktree", "add", "-q", "--detach", str(tmp_path / "second"))
    assert (tmp_path / "second" / ".git").is_file()
    found = {git_history.last_commit_day(tmp_path / name) for name in ("shallow", "second")}
    assert found == {"2001-09-09"}


def test_other_repositories_are_ignored(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one around the tree, nor one that the environment names."""
    inside = repository / "inside"
    inside.mkdir()
    assert git_history.last_commit_day(inside) is None
    (inside / ".git").mkdir()
    assert git_history.last_commit_day(inside) is None
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    commit(other, 86400)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert git_history.last_commit_day(repository) == "2001-09-09"


HEADER = f"printf '{'a' * 40} commit 60\\n'"
YEAR = "printf 'committer a <b> 999999999999999 +0000\\n\\n'"


@pytest.mark.parametrize("script", ["exit 128", "echo HEAD missing", f"{HEADER}; {YEAR}", f"{HEADER}; echo tree 0"])
def test_unusable_answer_of_git_gives_none(repository: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Git may refuse a repository of another user, know no commit, or give an impossible year."""
    tool = repository.parent / "bin" / "git"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=os.pathsep)
    assert git_history.last_commit_day(repository) is None


def test_missing_git_commit_or_repository_gives_none(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert git_history.last_commit_day(empty) is None
    git(empty, "init", "-q")
    assert git_history.last_commit_day(empty) is None
    monkeypatch.setenv("PATH", str(empty))
    assert git_history.last_commit_day(repository) is None


def test_no_program_of_the_repository_settings_runs(repository: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    tool = tmp_path / "tool"
    tool.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    tool.chmod(0o755)
    for key in ("core.pager", "core.fsmonitor", "gpg.program", "alias.cat-file", "core.sshCommand", "diff.external"):
        git(repository, "config", key, f"!{tool}" if key.startswith("alias") else str(tool))
    git(repository, "config", "log.showSignature", "true")
    assert git_history.last_commit_day(repository) == "2001-09-09"
    assert not ran.exists()


@pytest.mark.parametrize(
    ("committed", "expected"),
    [(None, "2026-11-24"), ("2026-11-20", "2026-11-24"), ("2026-12-31", "2027-01-01"), ("9999-12-31", "9999-12-31")],
)
def test_the_latest_day_is_one_after_today_or_the_last_commit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, committed: str | None, expected: str
) -> None:
    """The later of the two counts, so that a slow clock does not refuse committed records."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Clock":
            return cls(2026, 11, 23, 12, tzinfo=tz)

    monkeypatch.setattr(git_history, "datetime", Clock)
    monkeypatch.setattr(git_history, "last_commit_day", lambda _root: committed)
    assert git_history.latest_day(tmp_path) == expected

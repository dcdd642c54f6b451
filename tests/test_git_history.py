"""The last commit and its day: read from git, and from nothing that a repository's settings could start."""

import os
import subprocess
from datetime import datetime, tzinfo
from pathlib import Path

import pytest

from headroom.io import git_history


def git(folder: Path, *words: str, seconds: int = 0) -> None:
    """Call git in a folder, with a clock that stands at so many seconds since 1970."""
    who = {f"GIT_{role}_{what}": "nobody@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    when = {f"GIT_{role}_DATE": f"@{seconds} +0000" for role in ("AUTHOR", "COMMITTER")}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, env={**os.environ, **who, **when, **alone}
    )


def commit(folder: Path, seconds: int) -> None:
    """Make a commit of whatever there is."""
    git(folder, "commit", "--allow-empty", "--no-gpg-sign", "-m", "committer <x> 1 +0000", seconds=seconds)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose last commit is of 2001-09-09, in UTC."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, 86400)
    commit(folder, 1_000_000_000)
    return folder


def test_it_is_the_day_of_the_commit_that_is_checked_out(repository: Path) -> None:
    """Also where an older one is."""
    assert git_history.last_commit_day(repository) == "2001-09-09"
    git(repository, "checkout", "-q", "HEAD~1")
    assert git_history.last_commit_day(repository) == "1970-01-02"


def test_the_last_commit_has_the_hash_that_git_prints(repository: Path) -> None:
    """In full, as `git rev-parse HEAD` prints it."""
    command = ["git", "rev-parse", "HEAD"]
    head = subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout.strip()
    assert git_history.last_commit(repository) == git_history.Commit(head, "2001-09-09")


def test_a_clone_of_one_commit_and_a_second_work_tree_are_enough(repository: Path, tmp_path: Path) -> None:
    """CI makes the one, people the other; in that `.git` is a file."""
    git(tmp_path, "clone", "-q", "--depth", "1", repository.as_uri(), "shallow")
    git(repository, "worktree", "add", "-q", "--detach", str(tmp_path / "second"))
    assert (tmp_path / "second" / ".git").is_file()
    found = {git_history.last_commit_day(tmp_path / name) for name in ("shallow", "second")}
    assert found == {"2001-09-09"}


def test_what_another_repository_says_is_not_asked(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
def test_an_answer_that_is_no_day_is_none(repository: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Git may refuse, as for a repository of somebody else's, or know of no commit; a year may be none."""
    tool = repository.parent / "bin" / "git"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=os.pathsep)
    assert git_history.last_commit_day(repository) is None


def test_without_git_without_a_commit_and_outside_there_is_none(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the records say what day counts."""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert git_history.last_commit_day(empty) is None
    git(empty, "init", "-q")
    assert git_history.last_commit_day(empty) is None
    monkeypatch.setenv("PATH", str(empty))
    assert git_history.last_commit_day(repository) is None


def test_a_repository_starts_nothing(repository: Path, tmp_path: Path) -> None:
    """Whatever its settings name for showing, signing or watching."""
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
    """Whichever is later, so that a clock that is behind refuses nothing that is committed."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Clock":
            return cls(2026, 11, 23, 12, tzinfo=tz)

    monkeypatch.setattr(git_history, "datetime", Clock)
    monkeypatch.setattr(git_history, "last_commit_day", lambda _root: committed)
    assert git_history.latest_day(tmp_path) == expected

"""What version control knows of a tree: its last commit, and so the last day that a record can be of."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

_NAMED = re.compile(rb"\A([0-9a-f]{40,64}) commit \d+\n")
_COMMITTED = re.compile(rb"^committer .*> (\d{1,15}) [+-]\d{4}$", re.MULTILINE)
_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its hash in hexadecimal, and the day, in UTC, on which it was made."""

    id: str
    day: str


def last_commit_day(root: Path) -> str | None:
    """Return the day, in UTC, on which the commit that is checked out was made; None as ``last_commit``."""
    found = last_commit(root)
    return found.day if found else None


def last_commit(root: Path) -> Commit | None:
    """Return the commit that is checked out.

    None where ``root`` is not the top of a repository, where git is missing, or where it refuses to answer. A clone of
    one commit is enough. The commit itself is read, which runs nothing that a repository's settings could name, and
    fetches nothing.
    """
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return None
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_CEILING_DIRECTORIES": str(root.resolve().parent)}
    command = [git, "-C", str(root), "cat-file", "--batch"]
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            command, input=b"HEAD\n", capture_output=True, timeout=_SECONDS, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _read(done.stdout) if done.returncode == 0 else None


def _read(answer: bytes) -> Commit | None:
    """Return the commit that ``git cat-file --batch`` printed; None where it printed none, or no day."""
    name, committed = _NAMED.match(answer), _COMMITTED.search(answer.partition(b"\n\n")[0])
    if name is None or committed is None:
        return None
    try:
        return Commit(name[1].decode(), f"{datetime.fromtimestamp(int(committed[1]), UTC):%Y-%m-%d}")
    except (ValueError, OverflowError, OSError):  # a year that no calendar has
        return None


def latest_day(root: Path) -> str:
    """Return the last day that a record can be of: one after the last commit or after today, whichever is later.

    What was measured today stands in the tree before it is committed. Time alone never makes a date wrong.
    """
    newest = max(f"{datetime.now(UTC):%Y-%m-%d}", last_commit_day(root) or "")
    try:
        return (date.fromisoformat(newest) + timedelta(days=1)).isoformat()
    except OverflowError:  # of the last day that a calendar has
        return newest

"""What version control knows of a tree: the day of its last commit, and so the last day that a record can be of."""

import os
import re
import shutil
import subprocess
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

_COMMITTED = re.compile(rb"^committer .*> (\d{1,15}) [+-]\d{4}$", re.MULTILINE)
_SECONDS = 10


def last_commit_day(root: Path) -> str | None:
    """The day, in UTC, on which the commit that is checked out was made.

    None where ``root`` is not the top of a repository, where git is missing, or where it refuses to answer. A clone of
    one commit is enough. The commit itself is read, which runs nothing that a repository's settings could name, and
    fetches nothing.
    """
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return None
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_CEILING_DIRECTORIES": str(root.resolve().parent)}
    command = [git, "-C", str(root), "cat-file", "commit", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False, env=environment)  # noqa: S603 - fixed words
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _COMMITTED.search(done.stdout.partition(b"\n\n")[0])
    if done.returncode != 0 or found is None:
        return None
    try:
        return f"{datetime.fromtimestamp(int(found[1]), UTC):%Y-%m-%d}"
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

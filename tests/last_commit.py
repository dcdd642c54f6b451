"""The last commit, by which tests choose a sample that changes."""

from pathlib import Path

from headroom.io.git_history import HistoryError, Revision


def last_commit() -> str:
    """Return the last commit; nothing outside of a repository."""
    try:
        return Revision.of(Path(__file__).parents[1], "HEAD").commit
    except HistoryError:
        return ""

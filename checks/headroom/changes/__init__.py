"""Compare the tree with an earlier commit: changed verdicts, claims and evidence, and forbidden deletions."""

from headroom.changes.differences import Changes, ClaimChange, VerdictChange, changes
from headroom.io.git_history import HistoryError

__all__ = ["Changes", "ClaimChange", "HistoryError", "VerdictChange", "changes"]

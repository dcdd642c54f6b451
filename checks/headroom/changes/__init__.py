"""What a change of the tree does to what it says: verdicts, claims, evidence, and what may never change."""

from headroom.changes.differences import Changes, Moved, Reworded, changes
from headroom.io.git_history import HistoryError

__all__ = ["Changes", "HistoryError", "Moved", "Reworded", "changes"]

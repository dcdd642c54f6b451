"""Judge claims by evidence: gates, verdicts, and each claim's status on each hardware class."""

from headroom.verdicts.disputes import Dispute
from headroom.verdicts.formula_check import Check, Computed
from headroom.verdicts.freshness import Age
from headroom.verdicts.judge import PointVerdict, SessionVerdict, judge
from headroom.verdicts.standing import Board, Standing, Status, judge_all

__all__ = [
    "Age",
    "Board",
    "Check",
    "Computed",
    "Dispute",
    "PointVerdict",
    "SessionVerdict",
    "Standing",
    "Status",
    "judge",
    "judge_all",
]

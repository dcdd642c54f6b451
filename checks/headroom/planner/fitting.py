"""Fit the constants of the step-time model on published runs, by coordinate descent on the errors' logarithms."""

from collections.abc import Sequence
from dataclasses import replace
from math import log

from headroom.planner.published_runs import Run
from headroom.planner.step_time import Constants

BOUNDS = {
    "matmul": (0.5, 1.0),
    "attention": (0.1, 1.0),
    "eager": (1.0, 200.0),
    "fused": (1.0, 200.0),
    "overlap": (0.0, 1.0),
    "tensor_overlap": (0.0, 1.0),
    "straggling": (0.0, 0.05),
}
"""The fitted constants with their ranges. The share of a link's bandwidth is measured, not fitted."""
START = {
    "matmul": 0.8,
    "attention": 0.5,
    "eager": 30.0,
    "fused": 15.0,
    "overlap": 0.7,
    "tensor_overlap": 0.5,
    "straggling": 0.005,
}
_ROUNDS, _POWER, _LEAST = 150, 1.5, 1e-12


def fit(runs: Sequence[Run], link: float) -> Constants:
    """Return the constants with the least sum of |log error| to the power 1.5, which weighs outliers less than squares.

    Args:
        runs: the runs to fit on.
        link: the part of a link's bandwidth that collectives reach.
    """
    found = Constants(link=link, **START)
    steps = {name: (high - low) / 4 for name, (low, high) in BOUNDS.items()}
    best = _loss(found, runs)
    for _ in range(_ROUNDS):
        for name in BOUNDS:
            found, best = _moved(name, steps, (found, best), runs)
    return found


def _moved(
    name: str, steps: dict[str, float], found: tuple[Constants, float], runs: Sequence[Run]
) -> tuple[Constants, float]:
    """Return the constants after a step of one of them that lowers the loss; else halve its step."""
    constants, best = found
    low, high = BOUNDS[name]
    for sign in (1, -1):
        value = min(high, max(low, getattr(constants, name) + sign * steps[name]))
        moved = replace(constants, **{name: value})
        loss = _loss(moved, runs)
        if loss < best - _LEAST:
            return moved, loss
    steps[name] /= 2
    return constants, best


def _loss(constants: Constants, runs: Sequence[Run]) -> float:
    return float(sum(abs(log(run.row.tokens_per_second / run.predicted(constants).rate)) ** _POWER for run in runs))

"""Percentiles of few numbers."""

from collections.abc import Iterable


def percentile(numbers: Iterable[float], share: float) -> float:
    """Return the smallest of the numbers that at least this share of them does not exceed."""
    ordered = sorted(numbers)
    return ordered[max(0, -(-len(ordered) * round(100 * share) // 100) - 1)]

"""What a sample of mutants says of all of them."""

import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import comb

from mutation.operators import Mutant

_TAIL = 0.025
"""The chance of each end that an interval leaves out."""


def drawn(found: Sequence[Mutant], size: int, seed: int) -> list[Mutant]:
    """So many of these, each as likely as any other and none twice, in their order."""
    return [found[i] for i in sorted(random.Random(seed).sample(range(len(found)), min(size, len(found))))]  # noqa: S311 - no secret


def interval(killed: int, tried: int, of: int) -> tuple[int, int]:
    """Between which numbers of all mutants are killed, with 95 % confidence, where so many of those tried are.

    It is exact: of each number left out, a sample would hold as many, or as few, at most once in forty times.
    """
    all_ways = comb(of, tried)

    def at_most(most: int, total: int) -> float:
        """The chance of at most so many killed ones in a sample, where a total is killed."""
        return sum(comb(total, k) * comb(of - total, tried - k) for k in range(most + 1)) / all_ways

    totals = range(killed, of - (tried - killed) + 1)
    low = bisect_right(totals, _TAIL, key=lambda total: 1 - at_most(killed - 1, total))
    high = bisect_left(totals, -_TAIL, key=lambda total: -at_most(killed, total))
    return totals[low], totals[high - 1]

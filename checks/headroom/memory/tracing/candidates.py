"""Keep of many candidate polynomials those that can be the largest for a real model and job."""

import random
from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from headroom.memory.tracing.symbols import Monomial, Polynomial

_DRAWS = 3000
_SEED = 20261123


def _draw(rng: random.Random) -> dict[str, int]:
    """Return the symbols of a random model and job, of the proportions that published models have."""
    d = rng.choice((64, 80, 96, 128, 192, 256))
    kv, g = rng.choice((1, 2, 4, 8, 16, 32)), rng.choice((1, 2, 4, 7, 8))
    h = 64 * max(1, round(kv * g * d * rng.choice((0.5, 0.75, 1, 1, 1.5, 2)) / 64))
    sizes = {"a": kv * g, "kv": kv, "g": g, "d": d, "h": h, "q": kv * g * d, "k": kv * d}
    sizes |= {
        "f": 64 * max(1, round(h * rng.uniform(0.3, 8) / 64)),
        "m": 64 * max(1, round(h * rng.uniform(0.1, 1) / 64)),
    }
    sizes |= {"V": rng.choice((30000, 32000, 50257, 128256, 151936, 256000)), "E": rng.choice((8, 16, 64, 128, 256))}
    sizes |= {"e": rng.choice((1, 2, 4, 8)), "n": h, "P": 1024, "r": rng.choice((4, 8, 16, 64, 256))}
    sizes |= {"ql": rng.choice((512, 1536)), "kl": 512, "dr": 64, "dn": 128, "dv": 128}
    length = 2 ** rng.randrange(4, 18)
    return sizes | {
        "B": 2 ** rng.randrange(0, 8),
        "S": length,
        "C": length,
        "K": min(length, 2 ** rng.randrange(4, 12)),
    }


_DRAWN = [_draw(random.Random(_SEED + number)) for number in range(_DRAWS)]  # noqa: S311 - repeatable, not secret
_SIZES = {name: np.array([drawn[name] for drawn in _DRAWN], dtype=float) for name in _DRAWN[0]}


@cache
def _products(monomial: Monomial) -> NDArray[np.float64]:
    """Return the value of a product of symbols for each drawn model and job."""
    values: NDArray[np.float64] = np.prod([np.ones(_DRAWS), *(_SIZES[symbol] for symbol in monomial)], axis=0)
    return values


def _values(polynomial: Polynomial) -> NDArray[np.float64]:
    values: NDArray[np.float64] = np.sum(
        [np.zeros(_DRAWS), *(float(n) * _products(m) for m, n in polynomial.items())], axis=0
    )
    return values


def _dominates(one: Polynomial, other: Polynomial) -> bool:
    """Return whether the first is at least the second for all positive symbols, by its coefficients."""
    return all(one.get(m, 0) >= other.get(m, 0) for m in one.keys() | other.keys())


def undominated(candidates: Iterable[Polynomial]) -> list[Polynomial]:
    """Return the candidates that no other candidate dominates."""
    kept: list[Polynomial] = []
    for candidate in candidates:
        if any(_dominates(one, candidate) for one in kept):
            continue
        kept = [one for one in kept if not _dominates(candidate, one)] + [candidate]
    return kept


def largest(candidates: Iterable[Polynomial]) -> list[Polynomial]:
    """Return the candidates that are the largest for at least one of 3,000 random models and jobs.

    The draws are the same each time. A candidate that is left out can be the largest only between the draws, by little.
    """
    kept = undominated(candidates)
    if not kept[1:]:
        return kept
    winners = np.argmax([_values(one) for one in kept], axis=0)
    return [kept[number] for number in sorted(set(winners.tolist()))]

"""Verdicts on samples that nobody thought of."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from headroom.maths.statistics import Comparison, compare, compare_exact, control_holds

SAMPLES = st.floats(1e-6, 1e6)
PAIRS = st.lists(st.tuples(SAMPLES, SAMPLES), min_size=10, max_size=30)
NEAR = st.lists(st.tuples(st.floats(0.9, 1.1), st.floats(0.9, 1.1)), min_size=10, max_size=30)
ANY_PAIRS = PAIRS | NEAR
CLAIMS: list[dict[str, Any]] = [
    {},
    {"min_effect": 0.0},
    {"min_effect": 0.5},
    {"relation": "not_worse", "margin": 0.05},
    {"relation": "equal_within", "margin": 0.1},
]
claims = st.sampled_from(CLAIMS)
judges = pytest.mark.parametrize("judge", [compare, compare_exact])
Judge = Callable[..., Comparison]


def arms(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Both arms of these pairs."""
    return [a for a, _ in pairs], [b for _, b in pairs]


def zones(claim: dict[str, Any]) -> tuple[float, float]:
    """Between which ratios a claim holds."""
    margin = claim.get("margin")
    if margin is None:
        return 1 + claim.get("min_effect", 0.02), math.inf
    return 1 / (1 + margin), math.inf if claim["relation"] == "not_worse" else 1 + margin


class TestComparison:
    """What holds of every comparison."""

    @judges
    @given(pairs=ANY_PAIRS, claim=claims)
    def test_the_verdict_is_what_the_interval_says(
        self, judge: Judge, pairs: list[tuple[float, float]], claim: Any
    ) -> None:
        """Supported only inside the claim's range, contradicted only outside; the estimate lies in its interval."""
        found = judge(*arms(pairs), **claim)
        low, high = zones(claim)
        assert 0 < found.low <= found.high < math.inf
        assert found.low <= found.ratio * (1 + 1e-12)
        assert found.ratio <= found.high * (1 + 1e-12)
        if found.verdict == "supported":
            assert low < found.low
            assert found.high < high
        if found.verdict == "contradicted":
            assert found.high < max(low, 1) or found.low > high
        assert (found.verdict == "inconclusive") == (found.reason in ("wide", "tails_decide"))

    @judges
    @given(pairs=ANY_PAIRS, claim=claims, power=st.integers(-20, 20), seed=st.integers(0, 99))
    def test_units_and_the_order_of_blocks_do_not_count(
        self, judge: Judge, pairs: list[tuple[float, float]], claim: Any, power: int, seed: int
    ) -> None:
        """Bytes as KiB, seconds as milliseconds by powers of two: the very same digits."""
        baseline, subject = map(np.array, arms(pairs))
        order = np.random.default_rng(seed).permutation(len(pairs))
        scale = 2.0**power
        assert judge(baseline[order] * scale, subject[order] * scale, **claim) == judge(baseline, subject, **claim)

    @judges
    @given(pairs=ANY_PAIRS, claim=claims)
    def test_a_rate_swaps_the_arms(self, judge: Judge, pairs: list[tuple[float, float]], claim: Any) -> None:
        """Higher is better of the swapped arms is lower is better, to the digit."""
        baseline, subject = arms(pairs)
        assert judge(subject, baseline, better="higher", **claim) == judge(baseline, subject, **claim)

    @given(pairs=ANY_PAIRS)
    def test_no_claim_holds_both_ways(self, pairs: list[tuple[float, float]]) -> None:
        """Neither arm is better than the other and worse as well."""
        there, back = compare(*arms(pairs), min_effect=0.0), compare(*arms(pairs)[::-1], min_effect=0.0)
        assert not there.verdict == back.verdict == "supported"
        assert (there.verdict == "supported") <= (back.verdict == "contradicted")

    @given(pairs=ANY_PAIRS, claim=st.sampled_from(CLAIMS[:4]), gain=st.floats(1.0, 100.0))
    def test_a_better_subject_never_does_worse(self, pairs: list[tuple[float, float]], claim: Any, gain: float) -> None:
        """With every sample of the subject improved alike, ends of the interval rise, and what held still holds."""
        baseline, subject = arms(pairs)
        before, after = compare(baseline, subject, **claim), compare(baseline, [s / gain for s in subject], **claim)
        assert after.low >= before.low * (1 - 1e-12)
        assert after.high >= before.high * (1 - 1e-12)
        assume(after.reason != "tails_decide")
        assert before.verdict != "supported" or after.verdict == "supported" or math.isclose(gain, 1)

    @given(pairs=ANY_PAIRS, low=st.floats(0.5, 0.98), high=st.floats(0.5, 0.98))
    def test_a_higher_level_widens_the_interval(
        self, pairs: list[tuple[float, float]], low: float, high: float
    ) -> None:
        """Never the other way round."""
        low, high = sorted((low, high))
        narrow, wide = compare(*arms(pairs), level=low), compare(*arms(pairs), level=high)
        assert wide.low <= narrow.low <= narrow.high <= wide.high

    @given(pairs=ANY_PAIRS, effects=st.tuples(st.floats(0, 2), st.floats(0, 2)))
    def test_what_holds_by_much_holds_by_little(
        self, pairs: list[tuple[float, float]], effects: tuple[float, float]
    ) -> None:
        """A smaller least effect never takes support away."""
        small, large = (compare(*arms(pairs), min_effect=effect) for effect in sorted(effects))
        assert large.verdict != "supported" or small.verdict == "supported"

    @judges
    @given(
        pairs=ANY_PAIRS,
        claim=claims,
        bad=st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -1.0, -0.0, 1e-80, 1e80]),
        data=st.data(),
    )
    def test_one_bad_sample_decides_nothing(
        self, judge: Judge, pairs: list[tuple[float, float]], claim: Any, bad: float, data: st.DataObject
    ) -> None:
        """Wherever it stands, in either arm."""
        both = arms(pairs)
        both[data.draw(st.integers(0, 1))][data.draw(st.integers(0, len(pairs) - 1))] = bad
        found = judge(*both, **claim)
        assert (found.verdict, found.reason, found.n) == ("inconclusive", "bad_samples", 0)
        assert not control_holds(*both)

    @given(pairs=ANY_PAIRS)
    def test_exactness_is_stable(self, pairs: list[tuple[float, float]]) -> None:
        """What is decided exactly lies within all ratios; what is not is decided as if nobody had asked for it."""
        baseline, subject = arms(pairs)
        exact, plain = compare_exact(baseline, subject), compare(baseline, subject)
        if exact.level == 1:
            assert exact.low <= plain.low * (1 + 1e-12)
            assert exact.high >= plain.high * (1 - 1e-12)
            assert plain.reason in (exact.reason, "tails_decide", "wide") or exact.reason == "negligible"
        else:
            assert exact == plain

    @given(st.lists(SAMPLES, min_size=10, max_size=30))
    def test_an_arm_is_compatible_with_itself(self, samples: list[float]) -> None:
        """The control that equals its baseline holds, and no arm is better than itself."""
        assert control_holds(samples, samples)
        assert control_holds(samples, samples, exact=True)
        assert compare(samples, samples).verdict == "contradicted"
        assert compare(samples, samples, relation="not_worse", margin=0.01).verdict == "supported"

"""Property tests of comparisons."""

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
    """Return both arms of these pairs."""
    return [a for a, _ in pairs], [b for _, b in pairs]


def zones(claim: dict[str, Any]) -> tuple[float, float]:
    """Return the range of ratios in which a claim holds."""
    margin = claim.get("margin")
    if margin is None:
        return 1 + claim.get("min_effect", 0.02), math.inf
    return 1 / (1 + margin), math.inf if claim["relation"] == "not_worse" else 1 + margin


class TestComparison:
    @judges
    @given(pairs=ANY_PAIRS, claim=claims)
    def test_the_verdict_follows_from_the_interval(
        self, judge: Judge, pairs: list[tuple[float, float]], claim: Any
    ) -> None:
        """Supported only if inside the claim's range, contradicted only if outside; the estimate is in its interval."""
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
    def test_units_and_the_order_of_blocks_do_not_matter(
        self, judge: Judge, pairs: list[tuple[float, float]], claim: Any, power: int, seed: int
    ) -> None:
        """Scaling by powers of two gives the same digits."""
        baseline, subject = map(np.array, arms(pairs))
        order = np.random.default_rng(seed).permutation(len(pairs))
        scale = 2.0**power
        assert judge(baseline[order] * scale, subject[order] * scale, **claim) == judge(baseline, subject, **claim)

    @judges
    @given(pairs=ANY_PAIRS, claim=claims)
    def test_higher_is_better_equals_lower_is_better_of_swapped_arms(
        self, judge: Judge, pairs: list[tuple[float, float]], claim: Any
    ) -> None:
        baseline, subject = arms(pairs)
        assert judge(subject, baseline, better="higher", **claim) == judge(baseline, subject, **claim)

    @given(pairs=ANY_PAIRS)
    def test_no_claim_holds_in_both_directions(self, pairs: list[tuple[float, float]]) -> None:
        there, back = compare(*arms(pairs), min_effect=0.0), compare(*arms(pairs)[::-1], min_effect=0.0)
        assert not there.verdict == back.verdict == "supported"
        assert (there.verdict == "supported") <= (back.verdict == "contradicted")

    @given(pairs=ANY_PAIRS, claim=st.sampled_from(CLAIMS[:4]), gain=st.floats(1.0, 100.0))
    def test_a_better_subject_never_has_a_worse_verdict(
        self, pairs: list[tuple[float, float]], claim: Any, gain: float
    ) -> None:
        """If every sample of the subject improves alike, both ends of the interval rise."""
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
        low, high = sorted((low, high))
        narrow, wide = compare(*arms(pairs), level=low), compare(*arms(pairs), level=high)
        assert wide.low <= narrow.low <= narrow.high <= wide.high

    @given(pairs=ANY_PAIRS, effects=st.tuples(st.floats(0, 2), st.floats(0, 2)))
    def test_a_smaller_least_effect_never_removes_support(
        self, pairs: list[tuple[float, float]], effects: tuple[float, float]
    ) -> None:
        small, large = (compare(*arms(pairs), min_effect=effect) for effect in sorted(effects))
        assert large.verdict != "supported" or small.verdict == "supported"

    @judges
    @given(
        pairs=ANY_PAIRS,
        claim=claims,
        bad=st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -1.0, -0.0, 1e-80, 1e80]),
        data=st.data(),
    )
    def test_one_invalid_sample_makes_the_comparison_inconclusive(
        self, judge: Judge, pairs: list[tuple[float, float]], claim: Any, bad: float, data: st.DataObject
    ) -> None:
        both = arms(pairs)
        both[data.draw(st.integers(0, 1))][data.draw(st.integers(0, len(pairs) - 1))] = bad
        found = judge(*both, **claim)
        assert (found.verdict, found.reason, found.n) == ("inconclusive", "bad_samples", 0)
        assert not control_holds(*both)

    @given(pairs=ANY_PAIRS)
    def test_exact_comparisons_decide_or_equal_the_ordinary_ones(self, pairs: list[tuple[float, float]]) -> None:
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
        """A control equal to its baseline holds, and no arm is better than itself."""
        assert control_holds(samples, samples)
        assert control_holds(samples, samples, exact=True)
        assert compare(samples, samples).verdict == "contradicted"
        assert compare(samples, samples, relation="not_worse", margin=0.01).verdict == "supported"

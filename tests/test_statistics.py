"""Statistics: sizes, coverage and power of the tests, and their symmetries."""

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from headroom.maths.statistics import (
    Comparison,
    Samples,
    _critical_rank,
    compare,
    compare_exact,
    control_holds,
    typical_ratio,
)

Array = NDArray[np.floating[Any]]
Arms = tuple[Array, Array]  # of one session, or with a row for each of many sessions

NOT_WORSE: dict[str, Any] = {"relation": "not_worse", "margin": 0.05}
WITHIN: dict[str, Any] = {"relation": "equal_within", "margin": 0.05}


def _timeline(noise: Callable[[np.random.Generator, int, int], Array]) -> Callable[[int, int], Arms]:
    """Return a generator of arms that share noise over time, with each block's two slots in random order."""

    def arms(sessions: int, n: int) -> Arms:
        rng = np.random.default_rng([sessions, n])
        slots = np.exp(noise(rng, sessions, 2 * n)).reshape(sessions, n, 2)
        first = rng.integers(2, size=(sessions, n, 1))
        return np.take_along_axis(slots, first, 2)[..., 0], np.take_along_axis(slots, 1 - first, 2)[..., 0]

    return arms


def _iid(rng: np.random.Generator, sessions: int, slots: int) -> Array:
    return rng.normal(0, 0.05, (sessions, slots))


def _drift(rng: np.random.Generator, sessions: int, slots: int) -> Array:
    walk: Array = rng.normal(0, 0.01, (sessions, slots)).cumsum(axis=1)
    return np.linspace(0, 0.15, slots) + walk + rng.normal(0, 0.03, (sessions, slots))


def _spikes(rng: np.random.Generator, sessions: int, slots: int) -> Array:
    spikes = np.log1p(0.5 * rng.lognormal(0, 0.5, (sessions, slots)))
    hit = rng.random((sessions, slots)) < 0.1
    return rng.normal(0, 0.02, (sessions, slots)) + np.where(hit, spikes, 0)


def _autocorrelated(rng: np.random.Generator, sessions: int, slots: int) -> Array:
    series = rng.normal(0, 0.05, (slots, sessions))
    for slot in range(1, slots):
        series[slot] = 0.7 * series[slot - 1] + math.sqrt(1 - 0.7**2) * series[slot]
    return series.T


def _two_modes(rng: np.random.Generator, sessions: int, slots: int) -> Array:
    slow = rng.random((sessions, slots)) < 0.3
    return np.where(slow, math.log(1.1), 0) + rng.normal(0, 0.01, (sessions, slots))


def _unequal_spreads(sessions: int, n: int) -> Arms:
    rng = np.random.default_rng([sessions, n])
    return rng.lognormal(0, 0.02, (sessions, n)), rng.lognormal(0, 0.10, (sessions, n))


NOISES = {
    "iid": _timeline(_iid),
    "drift": _timeline(_drift),
    "spikes": _timeline(_spikes),
    "autocorrelated": _timeline(_autocorrelated),
    "two_modes": _timeline(_two_modes),
    "unequal_spreads": _unequal_spreads,
}


def _sessions(arms: Arms, gain: float = 1.0, **claim: Any) -> list[Comparison]:
    """Return the comparisons of sessions whose subject is truly better by the factor ``gain``."""
    return [compare(baseline, subject, **claim) for baseline, subject in zip(arms[0], arms[1] / gain, strict=True)]


def _supported(arms: Arms, gain: float = 1.0, **claim: Any) -> float:
    """Return the share of such sessions with the verdict ``supported``."""
    return sum(result.verdict == "supported" for result in _sessions(arms, gain, **claim)) / len(arms[0])


def _tail_counts(n: int) -> list[int]:
    """Count the 2^n sign patterns by signed-rank statistic: the coefficients of prod(1 + x^rank)."""
    width = n // 8 + 1  # bytes a coefficient: x is so large a power of two that the coefficients cannot touch
    packed = 1
    for rank in range(1, n + 1):
        packed += packed << (8 * width * rank)
    digits = packed.to_bytes(width * (n * (n + 1) // 2 + 1), "little")
    return [int.from_bytes(digits[start : start + width], "little") for start in range(0, len(digits), width)]


def _pairs(ratios: Sequence[float] | Array) -> Arms:
    """Return arms with these improvements, each block on its own scale."""
    subject = 2.0 ** np.arange(len(ratios))
    return subject * np.asarray(ratios), subject


def _noisy(gain: float, n: int = 20) -> Arms:
    """Return the arms of one session with 5 % noise and a true gain."""
    rng = np.random.default_rng(7)
    return rng.lognormal(0, 0.05, n), rng.lognormal(0, 0.05, n) / gain


class TestSignedRank:
    @pytest.mark.parametrize("level", [0.90, 0.95, 0.99])
    @pytest.mark.parametrize("n", range(6, 13))
    def test_interval_inverts_the_test(self, n: int, level: float) -> None:
        """Over all sign patterns, the interval excludes 1 exactly if the signed-rank test rejects at level alpha."""
        magnitudes = np.random.default_rng(n).uniform(0.01, 0.5, n)
        ranks = magnitudes.argsort().argsort() + 1
        signs = np.array(list(product((-1, 1), repeat=n)))
        statistics = (signs > 0) @ ranks
        at_most = np.bincount(statistics).cumsum()[np.minimum(statistics, n * (n + 1) // 2 - statistics)]
        rejected = 2 * at_most / 2**n <= 1 - level + 1e-12
        found = [compare(ratios, np.ones(n), level=level) for ratios in np.exp(signs * magnitudes)]
        assert [not result.low <= 1 <= result.high for result in found] == rejected.tolist()
        assert rejected.mean() <= 1 - level

    @pytest.mark.parametrize(
        ("n", "at_95", "at_99"), [(10, 0.0488, 0.0098), (20, 0.0484, 0.0094), (30, 0.0497, 0.0099)]
    )
    def test_intervals_have_the_known_exact_sizes(self, n: int, at_95: float, at_99: float) -> None:
        counts = _tail_counts(n)
        sizes = [2 * sum(counts[: _critical_rank(n, level)]) / 2**n for level in (0.95, 0.99)]
        assert sizes == pytest.approx([at_95, at_99], abs=5e-5)

    @pytest.mark.parametrize("n", [0, 1, 5, 53, 54, 150])
    @pytest.mark.parametrize("level", [0.5, 0.90, 0.95, 0.99, 0.999])
    def test_the_critical_rank_agrees_with_integer_counts(self, n: int, level: float) -> None:
        counts, k = _tail_counts(n), _critical_rank(n, level)
        allowed = (1 - level) / 2 * 2**n
        assert sum(counts[:k]) <= allowed * (1 + 1e-12)
        assert sum(counts[: k + 1]) > allowed

    def test_published_example(self) -> None:
        """The figures are those of Hollander and Wolfe, table 3.1, for nine patients."""
        before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
        after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
        result = compare(np.exp(before), np.exp(after), level=0.95)
        assert np.log([result.ratio, result.low, result.high]) == pytest.approx([0.46, 0.010, 0.786], abs=5e-4)

    def test_the_typical_ratio_is_the_estimate_for_any_number_of_pairs(self) -> None:
        """It is nan for invalid samples."""
        for n in (1, 5, 10, 21):
            arms = _noisy(1.1, n)
            assert typical_ratio(*arms) == compare(*arms).ratio
        assert all(math.isnan(typical_ratio(*arms)) for arms in (([], []), ([1.0], [0.0]), ([1.0, 2.0], [1.0])))

    def test_equal_ratios_give_exactly_that_estimate_and_interval(self) -> None:
        result = compare([102.0] * 10, [100.0] * 10)
        assert (result.ratio, result.low, result.high) == (1.02, 1.02, 1.02)
        assert (result.verdict, result.reason) == ("inconclusive", "wide")  # it does not exceed the least effect


class TestRates:
    """Error rates and power over simulated sessions of known truth."""

    @pytest.mark.parametrize("n", [10, 20, 30])
    @pytest.mark.parametrize("noise", NOISES)
    def test_coverage(self, noise: str, n: int) -> None:
        """The 95 % interval contains the true ratio in at least 93.7 % of 4000 sessions, for every kind of noise."""
        found = _sessions(NOISES[noise](4000, n), level=0.95)
        assert sum(result.low <= 1 <= result.high for result in found) / 4000 >= 0.937

    @pytest.mark.parametrize("noise", NOISES)
    def test_identical_arms_are_rarely_supported(self, noise: str) -> None:
        """At most 2 of 2000 sessions."""
        assert _supported(NOISES[noise](2000, 20)) <= 2 / 2000

    @pytest.mark.parametrize("n", [10, 20, 30])
    def test_a_gain_of_exactly_the_least_effect_is_rarely_supported(self, n: int) -> None:
        """In at most 1 % of sessions."""
        assert _supported(NOISES["iid"](4000, n), 1.02) <= 0.01

    @pytest.mark.parametrize(("n", "gain", "claim"), [(20, 1.10, {}), (30, 1.05, {"level": 0.95, "min_effect": 0})])
    def test_power_of_the_rules(self, n: int, gain: float, claim: dict[str, Any]) -> None:
        """Twenty blocks find a gain of 10 % by the strict rule, thirty find 5 % by the plain one, 9 times in 10."""
        assert _supported(NOISES["iid"](2000, n), gain, **claim) >= 0.90

    @pytest.mark.parametrize(("claim", "gain"), [(NOT_WORSE, 1 / 1.05), (WITHIN, 1 / 1.05), (WITHIN, 1.05)])
    def test_a_difference_of_exactly_the_margin_rarely_passes_as_equal(
        self, claim: dict[str, Any], gain: float
    ) -> None:
        """In at most 6 % of sessions."""
        assert _supported(NOISES["iid"](4000, 20), gain, **claim) <= 0.06

    @pytest.mark.parametrize(("claim", "n"), [(NOT_WORSE, 20), (WITHIN, 30)])
    def test_identical_arms_pass_as_equal(self, claim: dict[str, Any], n: int) -> None:
        """Within 5 %, in at least 85 % of sessions."""
        assert _supported(NOISES["iid"](2000, n), **claim) >= 0.85


class TestVerdicts:
    @pytest.mark.parametrize(
        ("ratio", "claim", "expected"),
        [
            (1.10, {}, "supported: clear"),
            (1.01, {}, "contradicted: negligible"),
            (0.99, {}, "contradicted: reversed"),
            (1.10, {"min_effect": 0.2}, "contradicted: negligible"),
            (1.00, {"min_effect": 0}, "inconclusive: wide"),
            (0.97, NOT_WORSE, "supported: clear"),
            (2.00, NOT_WORSE, "supported: clear"),
            (0.951, NOT_WORSE, "contradicted: worse"),
            (0.97, WITHIN, "supported: clear"),
            (1.03, WITHIN, "supported: clear"),
            (0.94, WITHIN, "contradicted: different"),
            (1.06, WITHIN, "contradicted: different"),
        ],
    )
    @pytest.mark.parametrize("judge", [compare, compare_exact])
    def test_an_interval_of_one_point_gives_the_verdict_of_its_zone(
        self, judge: Callable[..., Comparison], ratio: float, claim: dict[str, Any], expected: str
    ) -> None:
        result = judge([ratio] * 10, [1.0] * 10, **claim)
        assert f"{result.verdict}: {result.reason}" == expected
        assert (result.ratio, result.low, result.high, result.n) == (ratio, ratio, ratio, 10)

    @pytest.mark.parametrize(
        ("limit", "claim"), [(1.02, {}), (1 / 1.05, NOT_WORSE), (1 / 1.05, WITHIN), (1.05, WITHIN)]
    )
    def test_an_interval_across_a_limit_is_inconclusive(self, limit: float, claim: dict[str, Any]) -> None:
        result = compare(*_pairs(limit * np.linspace(0.99, 1.01, 10)), **claim)
        assert result.low < limit < result.high
        assert (result.verdict, result.reason) == ("inconclusive", "wide")

    @pytest.mark.parametrize(("claim", "level"), [({}, 0.99), (NOT_WORSE, 0.90), (WITHIN, 0.90)])
    def test_the_default_level_is_99_percent_for_better_and_90_for_equivalence(
        self, claim: dict[str, Any], level: float
    ) -> None:
        assert compare(*_noisy(1), **claim) == compare(*_noisy(1), level=level, **claim)
        assert compare(*_noisy(1), **claim).level == level

    def test_medians_against_the_typical_pair_are_inconclusive_except_for_equivalence(self) -> None:
        baseline = 1.1 ** np.arange(30)
        subject = np.where(np.arange(30) < 3, 1.1**40, baseline / 1.1)
        gain, loss = compare(baseline, subject), compare(subject, baseline)
        assert np.median(baseline) < np.median(subject)
        assert gain.low == pytest.approx(1.1)
        assert loss.high == pytest.approx(1 / 1.1)
        for result in (gain, loss):
            assert (result.verdict, result.reason) == ("inconclusive", "tails_decide")
        assert compare(baseline, subject, **NOT_WORSE).reason == "clear"


class TestSymmetry:
    @pytest.mark.parametrize("gain", [0.5, 0.9, 0.97, 1.0, 1.03, 1.1, 2.0])
    def test_swapping_the_arms_gives_reciprocals_and_mirrored_verdicts(self, gain: float) -> None:
        baseline, subject = _noisy(gain)
        there, back = compare(baseline, subject, min_effect=0), compare(subject, baseline, min_effect=0)
        assert (back.ratio, back.low, back.high) == pytest.approx((1 / there.ratio, 1 / there.high, 1 / there.low))
        mirror = {"clear": "reversed", "reversed": "clear", "wide": "wide"}
        assert back.reason == mirror[there.reason]

    @pytest.mark.parametrize("judge", [compare, compare_exact])
    @pytest.mark.parametrize("gain", [0.5, 0.97, 1.0, 1.03, 2.0])
    def test_scale_block_order_and_metric_direction_do_not_matter(
        self, judge: Callable[..., Comparison], gain: float
    ) -> None:
        baseline, subject = _noisy(gain, 21)  # odd, for the reciprocal of a median to be that of the reciprocals
        plain, order = judge(baseline, subject), np.random.default_rng(1).permutation(21)
        assert judge(baseline[order], subject[order]) == plain
        for same in (
            judge(3e-9 * baseline, 3e-9 * subject),
            judge(1 / baseline, 1 / subject, better="higher"),
            judge(subject, baseline, better="higher"),
        ):
            assert (same.verdict, same.reason, same.n, same.level) == (plain.verdict, plain.reason, 21, plain.level)
            assert (same.ratio, same.low, same.high) == pytest.approx((plain.ratio, plain.low, plain.high), rel=1e-12)


class TestExact:
    @pytest.mark.parametrize(
        ("baseline", "subject", "reason", "figures"),
        [
            ([3000] * 10, [1500] * 10, "clear", (2.0, 2.0, 2.0)),
            ([3000, 3600] * 5, [1500, 2000] * 5, "clear", (3300 / 1750, 1.5, 2.4)),
            ([1500, 2000] * 5, [3000, 3600] * 5, "reversed", (1750 / 3300, 1500 / 3600, 2000 / 3000)),
            ([1010, 1012] * 5, [1000, 1001] * 5, "negligible", (1011 / 1000.5, 1010 / 1001, 1012 / 1000)),
        ],
    )
    def test_arms_that_do_not_overlap_are_judged_by_their_range(
        self, baseline: Samples, subject: Samples, reason: str, figures: tuple[float, ...]
    ) -> None:
        for result in (compare_exact(baseline, subject), compare_exact(subject, baseline, better="higher")):
            assert (result.ratio, result.low, result.high) == pytest.approx(figures, rel=1e-15)
            assert (result.reason, result.level, result.n) == (reason, 1.0, 10)

    def test_arms_that_overlap_are_judged_by_the_signed_rank_interval(self) -> None:
        baseline, subject = _noisy(1.08)
        assert baseline.min() < subject.max()
        assert compare_exact(baseline, subject) == compare(baseline, subject)
        assert compare_exact(baseline, subject, level=0.9).level == 0.9


class TestControl:
    def test_a_control_holds_if_the_interval_contains_1(self) -> None:
        """Noise passes; a slower and a faster slot do not."""
        assert control_holds(*_noisy(1))
        assert not control_holds(*_noisy(1.2))
        assert not control_holds(*_noisy(1 / 1.2))

    def test_a_higher_level_tolerates_a_larger_difference_of_the_control(self) -> None:
        arms = _pairs([1.01, 1.02, 1.03, 1.04, 1 / 1.05, 1.06, 1.07, 1.08, 1.09, 1.10])  # a size of 10 in 512
        assert not control_holds(*arms, level=0.95)
        assert control_holds(*arms, level=0.99)
        assert control_holds(*arms)
        with pytest.raises(ValueError, match=r"^level must be .+, not 99$"):
            control_holds(*arms, level=99)

    def test_an_exact_control_holds_if_the_arms_touch_or_overlap(self) -> None:
        assert control_holds([7] * 10, [7] * 10, exact=True)
        assert not control_holds([7] * 10, [8] * 10, exact=True)
        assert not control_holds([8] * 10, [7] * 10, exact=True)
        assert control_holds([7] * 10, [8] * 9 + [7], exact=True)
        assert not control_holds([7] * 10, [8] * 9 + [7])


BAD_SAMPLES: list[Any] = [
    *([*[1.0] * 9, bad] for bad in (math.nan, math.inf, -math.inf, -1.0, 0.0, 1e-300, 1e300, "1", None, [1.0], 1j)),
    *([bad] * 10 for bad in ("1.0", None, [1.0], [1.0, 2.0], True, b"1")),
    *("0123456789", None, 1.0, object(), np.ones((10, 1)), {1.0: 2.0}, 10 * [10**400]),
]
GOOD = [1.0] * 10


class TestRefusals:
    @pytest.mark.parametrize("judge", [compare, compare_exact])
    @pytest.mark.parametrize("bad", BAD_SAMPLES)
    def test_invalid_samples_are_reported_without_an_exception(
        self, judge: Callable[..., Comparison], bad: Any
    ) -> None:
        for result in (judge(bad, GOOD), judge(GOOD, bad)):
            assert (result.verdict, result.reason, result.n) == ("inconclusive", "bad_samples", 0)
            assert (math.isnan(result.ratio), result.low, result.high) == (True, 0.0, math.inf)
        assert not control_holds(GOOD, bad)
        assert not control_holds(bad, GOOD, exact=True)

    @pytest.mark.parametrize("judge", [compare, compare_exact])
    @pytest.mark.parametrize(("baseline", "subject"), [([2.0] * 11, GOOD), ([2.0] * 10, [1.0]), (GOOD, [])])
    def test_arms_of_different_lengths_are_refused(
        self, judge: Callable[..., Comparison], baseline: Samples, subject: Samples
    ) -> None:
        result = judge(baseline, subject)
        assert (result.verdict, result.reason, result.n) == ("inconclusive", "unpaired", 0)
        assert math.isnan(result.ratio)
        assert not control_holds(baseline, subject)

    @pytest.mark.parametrize("judge", [compare, compare_exact])
    @pytest.mark.parametrize("n", [0, 1, 5, 9])
    def test_fewer_than_ten_pairs_are_inconclusive_with_a_ratio(self, judge: Callable[..., Comparison], n: int) -> None:
        result = judge([2.0] * n, [1.0] * n)
        assert (result.verdict, result.reason, result.n) == ("inconclusive", "too_few_blocks", n)
        assert result.ratio == pytest.approx(2.0 if n else math.nan, nan_ok=True)
        assert not control_holds([1.0] * n, [1.0] * n)
        assert not control_holds([1.0] * n, [1.0] * n, exact=True)

    def test_an_unreachable_level_has_no_interval(self) -> None:
        """The smallest size of ten pairs is 2 in 1024."""
        arms = _pairs([2.0] * 10)
        result = compare(*arms, level=0.9981)
        assert (result.verdict, result.reason) == ("inconclusive", "level_unreachable")
        assert (result.ratio, result.low, result.high) == (2.0, 0.0, math.inf)
        assert compare(*arms, level=1 - 2 / 1024).verdict == "supported"

    @pytest.mark.parametrize(
        ("name", "value", "others"),
        [
            *(("better", value, {}) for value in ("", "Lower", None, 1)),
            *(("relation", value, {}) for value in ("worse", "", None)),
            *(("min_effect", value, {}) for value in (-0.01, math.nan, math.inf, True, False, "0.02", None)),
            *(("level", value, {}) for value in (0, 1, -0.5, 99, math.nan, True, "0.9")),
            *(("margin", value, {}) for value in (0.05, 0)),
            *(("margin", value, {"relation": "not_worse"}) for value in (None, 0, -0.05, math.nan, math.inf, "1")),
            *(("margin", value, {"relation": "equal_within"}) for value in (None, 0, -0.05, True)),
        ],
    )
    @pytest.mark.parametrize("judge", [compare, compare_exact])
    def test_an_invalid_parameter_is_named_with_its_value(
        self, judge: Callable[..., Comparison], name: str, value: object, others: dict[str, Any]
    ) -> None:
        with pytest.raises(ValueError, match=f"^{name} must be .+, not ") as raised:
            judge(None, GOOD, **{name: value}, **others)
        assert str(raised.value).endswith(f"not {value!r}")

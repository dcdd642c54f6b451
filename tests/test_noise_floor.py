"""The noise floor of a hardware class: its value, and the differences that it makes inconclusive."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factories import a_claim, a_session, a_sweep, edited, keep, write_tree
from headroom.records import Evidence, MeasuredClaim, load
from headroom.verdicts import Standing, judge_all, noise_floor
from headroom.verdicts.noise_floor import LEAST, Noise, deviations
from headroom.verdicts.paired_blocks import RunLayout

CLAIM = a_claim(min_effect=0.0)
EARLIER, DAY = "2026-11-19", "2026-11-20"


def off_by(factor: float, claim: MeasuredClaim = CLAIM, **changes: Any) -> Evidence:
    """Return a session whose controls all take this many times as long as their baselines."""

    def edit(data: dict[str, Any]) -> None:
        for run in data["runs"]:
            if run["control"]:
                run["samples"] = {name: [factor * each for each in found] for name, found in run["samples"].items()}

    return edited(a_session(claim, noise=0.0, **changes), edit)


def earlier(factors: Iterable[float], **changes: Any) -> list[Evidence]:
    """Return sessions of the day before, one per factor, of a benchmark that the claim does not use."""
    other = a_claim("training.other", benchmark="other")
    return [
        off_by(each, other, **{"date": EARLIER, "harness": f"0.1.{i}", **changes}) for i, each in enumerate(factors)
    ]


def standing_of(root: Path, sessions: Iterable[Evidence], claim: MeasuredClaim = CLAIM) -> Standing:
    """Return the claim's standing on these sessions."""
    return judge_all(load(write_tree(root, [claim], sessions))).of(claim, "cpu")


class TestDeviations:
    @pytest.mark.parametrize("factor", [1.25, 0.8])
    def test_a_deviation_is_the_absolute_log_of_the_typical_ratio(self, factor: float) -> None:
        assert deviations(RunLayout(off_by(factor))) == [pytest.approx(math.log(1.25))]

    def test_there_is_one_deviation_per_baseline_and_point(self) -> None:
        """Controls of every arm count, but another metric of the same times does not count again."""
        swept = a_claim(scope=a_sweep(1, 8))
        session = a_session(swept, controls=("plain", "clever"))
        assert len(deviations(RunLayout(session))) == 4
        both = edited(session, lambda data: [run["samples"].update(throughput=[1.0]) for run in data["runs"]])
        assert deviations(RunLayout(both)) == deviations(RunLayout(session))

    @pytest.mark.parametrize(
        "change",
        [
            lambda data: data["environment"].update(load_before=64.0),
            lambda data: data["runs"][0].update(throttled=["hw_slowdown"]),
            lambda data: [run.update(others_cpu=0.5) for run in data["runs"]],
            lambda data: data.update(runs=[run for run in data["runs"] if run["block"] < 9]),
            lambda data: data.update(runs=[run for run in data["runs"] if not run["control"]]),
            lambda data: data["runs"].clear(),
        ],
    )
    def test_busy_hot_short_or_uncontrolled_sessions_have_no_deviation(self, change: Callable[[Any], Any]) -> None:
        assert len(deviations(RunLayout(a_session(CLAIM)))) == 1
        assert deviations(RunLayout(edited(a_session(CLAIM), change))) == []

    def test_bytes_have_no_deviation(self, tmp_path: Path) -> None:
        claim = a_claim(metric={"name": "saved_for_backward"})
        assert judge_all(load(write_tree(tmp_path, [claim], [a_session(claim)]))).noise.floor("cpu") is None


class TestFloor:
    def test_the_floor_is_the_95th_percentile(self, tmp_path: Path) -> None:
        write_tree(tmp_path, [CLAIM], earlier(1 + i / 1000 for i in range(1, 21)))
        floor = judge_all(load(tmp_path)).noise.floor("cpu")
        assert floor
        assert floor.share == pytest.approx(0.019)
        assert (floor.comparisons, floor.sessions, floor.counts) == (20, 20, True)

    def test_the_floor_counts_from_twenty_comparisons(self, tmp_path: Path) -> None:
        write_tree(tmp_path, [CLAIM], earlier([1.01] * (LEAST - 1)))
        floor = judge_all(load(tmp_path)).noise.floor("cpu")
        assert floor
        assert not floor.counts

    def test_each_class_has_its_own_floor(self, tmp_path: Path) -> None:
        """A session whose machine is not of its class does not count."""
        wrong = edited(off_by(1.1), lambda data: data["environment"].update(threads=2))
        found = judge_all(load(write_tree(tmp_path, [CLAIM], [off_by(1.05), wrong]))).noise
        assert found.floor("h200") is None
        assert found.floor("cpu").comparisons == 1  # type: ignore[union-attr]

    def test_the_floor_before_a_day_excludes_that_day(self, tmp_path: Path) -> None:
        found = judge_all(load(write_tree(tmp_path, [CLAIM], [off_by(1.05), *earlier([1.01])]))).noise
        shares = [found.floor("cpu", day) for day in (EARLIER, DAY, "2026-11-21", None)]
        assert [each and round(each.share, 6) for each in shares] == [None, 0.01, 0.05, 0.05]


class TestApply:
    @pytest.mark.parametrize(
        ("ratio", "floor", "expected"),
        [
            (1.04, 1.05, "within_noise"),
            (1.04, 0.95, "within_noise"),
            (1.04, 1.03, "clear"),
            (0.97, 1.05, "within_noise"),
            (0.97, 1.02, "reversed"),
            (1.5, 1.05, "clear"),
        ],
    )
    def test_the_floor_applies_to_gains_and_losses(
        self, tmp_path: Path, ratio: float, floor: float, expected: str
    ) -> None:
        own = a_session(CLAIM, ratio, noise=0.0001)
        found = standing_of(tmp_path, [own, *earlier([floor] * LEAST)])
        assert found.reason == expected
        assert (found.status == "inconclusive") == (expected == "within_noise")

    @pytest.mark.parametrize(
        ("relation", "ratio", "floor", "expected"),
        [
            ("not_worse", 1.0, 1.2, "clear"),
            ("not_worse", 0.9, 1.2, "within_noise"),
            ("not_worse", 0.9, 1.05, "worse"),
            ("equal_within", 1.0, 1.2, "clear"),
            ("equal_within", 1.1, 1.2, "within_noise"),
            ("equal_within", 1.1, 1.05, "different"),
        ],
    )
    def test_the_floor_does_not_change_claims_of_equality(
        self, tmp_path: Path, relation: str, ratio: float, floor: float, expected: str
    ) -> None:
        claim = a_claim(relation=relation, margin=0.06)
        found = standing_of(tmp_path, [a_session(claim, ratio, noise=0.0001), *earlier([floor] * LEAST)], claim)
        assert found.reason == expected

    @pytest.mark.parametrize(("date", "count"), [(DAY, LEAST), ("2026-11-21", LEAST), (EARLIER, LEAST - 1)])
    def test_later_sessions_and_a_floor_of_few_do_not_apply(self, tmp_path: Path, date: str, count: int) -> None:
        own = a_session(CLAIM, 1.04, noise=0.0001)
        assert standing_of(tmp_path, [own, *earlier([1.05] * count, date=date)]).reason == "clear"

    def test_the_floor_does_not_apply_to_bytes(self, tmp_path: Path) -> None:
        claim = a_claim(metric={"name": "saved_for_backward"})
        own = a_session(claim, 1.04)
        assert standing_of(tmp_path, [own, *earlier([1.2] * LEAST)], claim).reason == "clear"

    def test_each_session_has_the_floor_of_the_days_before_it(self, tmp_path: Path) -> None:
        """So noise causes no dispute."""
        reversed_ = a_session(CLAIM, 0.97, noise=0.0001, date="2026-11-18")
        newest = a_session(CLAIM, 1.5, noise=0.0001)
        before = earlier([1.05] * LEAST, date="2026-11-17")
        assert standing_of(tmp_path / "a", [newest, reversed_]).status == "disputed"
        found = standing_of(tmp_path / "b", [newest, reversed_, *before])
        assert found.status == "supported"
        assert [verdict.reason for _, verdict in found.others] == ["within_noise"]

    def test_the_floor_applies_to_each_point(self, tmp_path: Path) -> None:
        claim = a_claim(scope=a_sweep(1, 8), min_effect=0.0)
        own = a_session(claim, lambda at: 1.04 if at["batch_size"] == 1 else 1.5, noise=0.0001)
        found = standing_of(tmp_path, [own, *earlier([1.05] * LEAST)], claim)
        assert found.verdict
        assert [point.reason for point in found.verdict.points] == ["within_noise", "clear"]
        assert (found.status, found.reason) == ("inconclusive", "within_noise")


def test_an_exception_in_statistics_gives_no_deviation(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("headroom.maths.statistics.typical_ratio", broken)
    assert deviations(RunLayout(a_session(CLAIM))) == []


def test_a_floor_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[list[float]]] = []
    found = Noise()
    monkeypatch.setattr(noise_floor, "_floor", calls.append)
    for _ in range(3):
        found.floor("cpu", DAY)
    assert len(calls) == 1


def test_an_interval_that_touches_the_floor_is_inconclusive(tmp_path: Path) -> None:
    point = standing_of(tmp_path, [a_session(CLAIM, 1.04, noise=0.0001)]).verdict.points[0]  # type: ignore[union-attr]
    for low, high, share, expected in (
        (1.1, 1.2, 0.1, "within_noise"),
        (1.1001, 1.2, 0.1, "clear"),
        (0.5, 0.8, 0.25, "within_noise"),
        (0.5, 0.7999, 0.25, "reversed"),
    ):
        reason = "clear" if low > 1 else "reversed"
        seen = noise_floor._apply_at(CLAIM, replace(point, low=low, high=high, reason=reason), share)
        assert seen.reason == expected


def test_the_order_of_adding_sessions_does_not_matter(tmp_path: Path) -> None:
    own = a_session(CLAIM, 1.04, noise=0.0001)
    root = write_tree(tmp_path, [CLAIM], [own])
    before = judge_all(load(root)).of(CLAIM, "cpu")
    for each in earlier([1.5] * LEAST, date="2026-11-22"):
        keep(root, each)
    assert judge_all(load(root)).of(CLAIM, "cpu").verdict == before.verdict

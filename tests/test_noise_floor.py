"""The noise floor of a hardware class: what it is made of, and which differences it lets count."""

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
    """A session whose every control takes so many times as long as its baseline."""

    def edit(data: dict[str, Any]) -> None:
        for run in data["runs"]:
            if run["control"]:
                run["samples"] = {name: [factor * each for each in found] for name, found in run["samples"].items()}

    return edited(a_session(claim, noise=0.0, **changes), edit)


def earlier(factors: Iterable[float], **changes: Any) -> list[Evidence]:
    """A session of the day before for each of these factors, of a benchmark that the claim is not about."""
    other = a_claim("training.other", benchmark="other")
    return [
        off_by(each, other, **{"date": EARLIER, "harness": f"0.1.{i}", **changes}) for i, each in enumerate(factors)
    ]


def stood(root: Path, sessions: Iterable[Evidence], claim: MeasuredClaim = CLAIM) -> Standing:
    """Where a claim stands on these sessions."""
    return judge_all(load(write_tree(root, [claim], sessions))).of(claim, "cpu")


class TestDeviations:
    """How far a baseline is from itself in one session."""

    @pytest.mark.parametrize("factor", [1.25, 0.8])
    def test_is_the_typical_ratio_whichever_is_slower(self, factor: float) -> None:
        """As a logarithm."""
        assert deviations(RunLayout(off_by(factor))) == [pytest.approx(math.log(1.25))]

    def test_is_one_a_baseline_and_point(self) -> None:
        """Controls of every arm count, and a metric that is made of the same times does not count again."""
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
    def test_is_none_where_little_or_something_else_was_measured(self, change: Callable[[Any], Any]) -> None:
        """A machine that was busy or hot, fewer than ten blocks, or no control."""
        assert len(deviations(RunLayout(a_session(CLAIM)))) == 1
        assert deviations(RunLayout(edited(a_session(CLAIM), change))) == []

    def test_bytes_have_none(self, tmp_path: Path) -> None:
        """They are counted."""
        claim = a_claim(metric={"name": "saved_for_backward"})
        assert judge_all(load(write_tree(tmp_path, [claim], [a_session(claim)]))).noise.floor("cpu") is None


class TestFloor:
    """What the sessions of a class say together."""

    def test_is_what_95_of_100_comparisons_reach(self, tmp_path: Path) -> None:
        """The nearest one, and none in between."""
        write_tree(tmp_path, [CLAIM], earlier(1 + i / 1000 for i in range(1, 21)))
        floor = judge_all(load(tmp_path)).noise.floor("cpu")
        assert floor
        assert floor.share == pytest.approx(0.019)
        assert (floor.comparisons, floor.sessions, floor.counts) == (20, 20, True)

    def test_counts_from_twenty_comparisons_on(self, tmp_path: Path) -> None:
        """The 95th percentile of fewer is the largest, which one bad session decides."""
        write_tree(tmp_path, [CLAIM], earlier([1.01] * (LEAST - 1)))
        floor = judge_all(load(tmp_path)).noise.floor("cpu")
        assert floor
        assert not floor.counts

    def test_is_of_one_class(self, tmp_path: Path) -> None:
        """Also where the session says another than its machine is of."""
        wrong = edited(off_by(1.1), lambda data: data["environment"].update(threads=2))
        found = judge_all(load(write_tree(tmp_path, [CLAIM], [off_by(1.05), wrong]))).noise
        assert found.floor("h200") is None
        assert found.floor("cpu").comparisons == 1  # type: ignore[union-attr]

    def test_of_the_days_before_one_takes_no_other(self, tmp_path: Path) -> None:
        """Not even the same day's."""
        found = judge_all(load(write_tree(tmp_path, [CLAIM], [off_by(1.05), *earlier([1.01])]))).noise
        shares = [found.floor("cpu", day) for day in (EARLIER, DAY, "2026-11-21", None)]
        assert [each and round(each.share, 6) for each in shares] == [None, 0.01, 0.05, 0.05]


class TestHeld:
    """A difference within the floor of the days before is none."""

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
    def test_holds_for_gains_and_losses(self, tmp_path: Path, ratio: float, floor: float, expected: str) -> None:
        """Whatever the sign of the noise."""
        own = a_session(CLAIM, ratio, noise=0.0001)
        found = stood(tmp_path, [own, *earlier([floor] * LEAST)])
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
    def test_that_nothing_differs_is_no_difference(
        self, tmp_path: Path, relation: str, ratio: float, floor: float, expected: str
    ) -> None:
        """What lies within a margin was not seen to differ, however noisy the class."""
        claim = a_claim(relation=relation, margin=0.06)
        found = stood(tmp_path, [a_session(claim, ratio, noise=0.0001), *earlier([floor] * LEAST)], claim)
        assert found.reason == expected

    @pytest.mark.parametrize(("date", "count"), [(DAY, LEAST), ("2026-11-21", LEAST), (EARLIER, LEAST - 1)])
    def test_what_was_not_known_then_changes_nothing(self, tmp_path: Path, date: str, count: int) -> None:
        """Sessions of the same day and later ones, and a floor of few."""
        own = a_session(CLAIM, 1.04, noise=0.0001)
        assert stood(tmp_path, [own, *earlier([1.05] * count, date=date)]).reason == "clear"

    def test_bytes_are_held_to_no_noise(self, tmp_path: Path) -> None:
        """They have none."""
        claim = a_claim(metric={"name": "saved_for_backward"})
        own = a_session(claim, 1.04)
        assert stood(tmp_path, [own, *earlier([1.2] * LEAST)], claim).reason == "clear"

    def test_older_sessions_are_held_to_what_was_known_before_them(self, tmp_path: Path) -> None:
        """So that no dispute comes of noise."""
        reversed_ = a_session(CLAIM, 0.97, noise=0.0001, date="2026-11-18")
        newest = a_session(CLAIM, 1.5, noise=0.0001)
        before = earlier([1.05] * LEAST, date="2026-11-17")
        assert stood(tmp_path / "a", [newest, reversed_]).status == "disputed"
        found = stood(tmp_path / "b", [newest, reversed_, *before])
        assert found.status == "supported"
        assert [verdict.reason for _, verdict in found.others] == ["within_noise"]

    def test_points_are_held_one_by_one(self, tmp_path: Path) -> None:
        """A claim of several points is as strong as the weakest."""
        claim = a_claim(scope=a_sweep(1, 8), min_effect=0.0)
        own = a_session(claim, lambda at: 1.04 if at["batch_size"] == 1 else 1.5, noise=0.0001)
        found = stood(tmp_path, [own, *earlier([1.05] * LEAST)], claim)
        assert found.verdict
        assert [point.reason for point in found.verdict.points] == ["within_noise", "clear"]
        assert (found.status, found.reason) == ("inconclusive", "within_noise")


def test_an_error_inside_statistics_is_no_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever breaks breaks no reading of the tree."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("headroom.maths.statistics.typical_ratio", broken)
    assert deviations(RunLayout(a_session(CLAIM))) == []


def test_a_floor_is_asked_for_often_and_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each claim asks for the one of its session's day."""
    calls: list[list[list[float]]] = []
    found = Noise()
    monkeypatch.setattr(noise_floor, "_floor", calls.append)
    for _ in range(3):
        found.floor("cpu", DAY)
    assert len(calls) == 1


def test_the_ends_of_an_interval_may_touch_the_floor(tmp_path: Path) -> None:
    """Only what lies beyond it as a whole differs."""
    point = stood(tmp_path, [a_session(CLAIM, 1.04, noise=0.0001)]).verdict.points[0]  # type: ignore[union-attr]
    for low, high, share, expected in (
        (1.1, 1.2, 0.1, "within_noise"),
        (1.1001, 1.2, 0.1, "clear"),
        (0.5, 0.8, 0.25, "within_noise"),
        (0.5, 0.7999, 0.25, "reversed"),
    ):
        reason = "clear" if low > 1 else "reversed"
        seen = noise_floor._apply_at(CLAIM, replace(point, low=low, high=high, reason=reason), share)
        assert seen.reason == expected


def test_sessions_added_in_any_order_say_the_same(tmp_path: Path) -> None:
    """Files are read by name, and days decide."""
    own = a_session(CLAIM, 1.04, noise=0.0001)
    root = write_tree(tmp_path, [CLAIM], [own])
    before = judge_all(load(root)).of(CLAIM, "cpu")
    for each in earlier([1.5] * LEAST, date="2026-11-22"):
        keep(root, each)
    assert judge_all(load(root)).of(CLAIM, "cpu").verdict == before.verdict

"""Boundaries of the gates: sessions just inside each limit count, and sessions just outside do not."""

import math
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from factories import CLASSES, a_claim, a_session, a_sweep, edited
from headroom.maths.statistics import Comparison, compare, compare_exact
from headroom.records import Evidence, HardwareClass
from headroom.verdicts import gates, judge
from test_sessions import Edit, fail, one, runs_of, session

CLAIM = a_claim()
CPU = HardwareClass.model_validate(CLASSES["cpu"])  # 1e12 FLOP/s
SECONDS = 2.0**-4  # a step, so that its operations at the peak are a number without rounding


def reason(evidence: Evidence, **changes: Any) -> str:
    """Return the reason of a session's verdict on the claim with these fields changed."""
    return judge(a_claim(**changes), evidence, CPU).reason


def step(seconds: list[float], flops: float) -> Edit:
    """Return an edit that sets the times and the FLOPs of one run."""

    def edit(data: dict[str, Any]) -> None:
        runs_of(data, "clever")[7].update(samples={"step_time": seconds}, flops=flops)

    return edit


def outputs(plain: float, clever: float) -> Evidence:
    """Return a session whose arms have these outputs."""

    def edit(data: dict[str, Any]) -> None:
        for run in data["runs"]:
            run["output"] = clever if run["arm"] == "clever" else plain

    return session(edit)


def test_an_output_may_differ_by_exactly_the_tolerance() -> None:
    assert reason(outputs(2.0, 3.0), tolerance=0.5) == "clear"
    assert reason(outputs(2.0, 3.001), tolerance=0.5) == "output_differs"
    assert reason(outputs(-2.0, -1.0), tolerance=0.5) == "clear"
    assert reason(outputs(3.0, 1.0), tolerance=0.5) == "output_differs"


def test_a_step_may_be_exactly_as_fast_as_the_hardware() -> None:
    assert reason(session(step([SECONDS], SECONDS * 1e12))) == "clear"
    assert reason(session(step([SECONDS], SECONDS * 1.001e12))) == "faster_than_hardware"
    assert reason(session(step([SECONDS, 0.001, SECONDS], SECONDS * 1e12))) == "faster_than_hardware"


@pytest.mark.parametrize("seconds", [None, [], [0.0], [1e-12]])
def test_throughput_without_possible_step_times_is_refused(seconds: list[float] | None) -> None:
    claim = a_claim(metric={"name": "throughput"})

    def times(data: dict[str, Any], of_one: list[float] | None) -> None:
        for run in data["runs"]:
            run["samples"]["step_time"] = [SECONDS]
        samples = runs_of(data, "clever")[7]["samples"]
        samples.pop("step_time")
        samples.update({} if of_one is None else {"step_time": of_one})

    made = a_session(claim)
    assert judge(claim, edited(made, lambda data: times(data, [SECONDS])), CPU).reason == "clear"
    found = judge(claim, edited(made, lambda data: times(data, seconds)), CPU)
    assert found.reason == "faster_than_hardware"


@pytest.mark.parametrize(
    ("shares", "load", "expected"),
    [
        ((0.1,), 0.0, "clear"),
        ((0.101,), 0.0, "machine_busy"),
        ((0.0, 0.2), 0.0, "clear"),
        ((0.0, 0.21), 0.0, "machine_busy"),
        ((None,), 7.99, "clear"),
        ((None,), 8.0, "machine_busy"),
        ((0.0, None), 8.0, "machine_busy"),
        ((0.0,), 8.0, "clear"),
    ],
)
def test_other_processes_may_use_a_tenth_of_the_cores(
    shares: tuple[float | None, ...], load: float, expected: str
) -> None:
    """Without recorded shares, the load before must have left a core free."""

    def edit(data: dict[str, Any]) -> None:
        data["environment"]["load_before"] = load
        for run in data["runs"]:
            run["others_cpu"] = shares[run["block"] % len(shares)]

    assert reason(session(edit)) == expected


def test_bytes_count_on_a_busy_machine() -> None:
    claim = a_claim(metric={"name": "saved_for_backward"})

    def edit(data: dict[str, Any]) -> None:
        data["environment"]["load_before"] = 64.0
        for run in data["runs"]:
            run["others_cpu"] = 0.9

    assert judge(claim, edited(a_session(claim), edit), CPU).reason == "clear"


def test_gates_that_need_a_class_are_skipped_without_one() -> None:
    fast = session(step([SECONDS], 1e15))
    assert judge(CLAIM, fast).reason == "clear"
    assert judge(CLAIM, fast, CPU).reason == "faster_than_hardware"


def test_a_run_with_the_inputs_of_another_block_is_not_paired() -> None:
    assert reason(session(one("input_seed", 1008))) == "inputs_not_paired"


@pytest.mark.parametrize(("arm", "control"), [("plain", False), ("clever", False), ("plain", True)])
@pytest.mark.parametrize(("failed", "expected"), [(2, "clear"), (3, "failed_runs")])
def test_a_tenth_of_the_runs_of_any_arm_may_fail(arm: str, control: bool, failed: int, expected: str) -> None:  # noqa: FBT001
    def edit(data: dict[str, Any]) -> None:
        fail(data, lambda run: (run["arm"], run["control"]) == (arm, control) and run["block"] < failed)

    assert reason(session(edit)) == expected


def test_one_block_without_control_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "GATES", {"control_missing": gates.GATES["control_missing"]})

    def edit(data: dict[str, Any]) -> None:
        data["runs"].remove(runs_of(data, "plain", control=True)[7])

    assert reason(session(edit)) == "control_missing"
    assert reason(a_session(CLAIM)) == "clear"


@pytest.mark.parametrize(("spread", "expected"), [(0.01, "clear"), (0.0, "control_failed")])
def test_control_bytes_may_differ_within_their_spread(spread: float, expected: str) -> None:
    """All blocks are compared together, not pair by pair."""
    claim = a_claim(metric={"name": "saved_for_backward"})

    def edit(data: dict[str, Any]) -> None:
        for run in data["runs"]:
            if run["arm"] == "plain":
                value = 2.0**30 * (1 + spread * (run["block"] % 2)) * (1.005 if run["control"] else 1)
                run["samples"]["saved_for_backward"] = [value]

    assert judge(claim, edited(a_session(claim), edit), CPU).reason == expected


def test_medians_that_contradict_the_typical_pair_are_inconclusive() -> None:
    """Nearly every block gains, and three lose so much that the subject's median is above the baseline's."""

    def edit(data: dict[str, Any]) -> None:
        for run in data["runs"]:
            plain = 1.1 ** run["block"]
            clever = 1.1**40 if run["block"] < 3 else plain / 1.1
            seconds = clever if run["arm"] == "clever" else plain
            run["samples"]["step_time"] = [seconds * (1 + 1e-9 * (3 * run["block"] + run["position"]))]

    assert reason(session(edit, blocks=30)) == "tails_decide"


def test_as_many_blocks_as_the_claim_requires_are_enough() -> None:
    assert reason(a_session(CLAIM, blocks=20)) == "clear"
    assert reason(a_session(CLAIM, blocks=21)) == "clear"
    assert reason(a_session(CLAIM, blocks=20), blocks=21) == "too_few_blocks"


def test_a_plan_of_too_many_blocks_is_refused_without_listing_them() -> None:
    made = a_session(CLAIM)
    endless = made.model_copy(update={"design": made.design.model_copy(update={"blocks": 2**62})})
    assert reason(endless) == "too_few_blocks"


def clock(ends: float) -> Evidence:
    """Return a session whose runs start one second apart and last this long."""

    def edit(data: dict[str, Any]) -> None:
        ordered = sorted(data["runs"], key=lambda run: (run["block"], run["position"]))
        for number, run in enumerate(ordered):
            run["started"], run["ended"] = float(number), number + ends

    return session(edit)


@pytest.mark.parametrize(("ends", "expected"), [(1.0, "clear"), (1.001, "order_not_random"), (0.0, "order_not_random")])
def test_a_run_ends_after_its_start_and_before_the_next(ends: float, expected: str) -> None:
    assert reason(clock(ends)) == expected


def test_one_slot_with_two_runs_is_refused() -> None:
    def edit(data: dict[str, Any]) -> None:
        data["runs"].append({**runs_of(data, "clever")[7], "position": 3, "samples": {"step_time": [0.06]}})

    assert reason(session(edit)) == "repeated_runs"


def test_a_block_without_the_metric_is_left_out() -> None:
    def edit(data: dict[str, Any]) -> None:
        runs_of(data, "clever")[7]["samples"] = {"throughput": [1.0]}

    found = judge(CLAIM, session(edit, blocks=21), CPU)
    assert (found.reason, found.points[0].n) == ("clear", 20)


def test_failures_at_other_points_or_arms_leave_blocks_in() -> None:
    claim = a_claim(scope=a_sweep(1, 8))

    def at_one(data: dict[str, Any]) -> None:
        fail(data, lambda run: run["block"] == 7 and run["point"] == {"batch_size": 1} and run["arm"] == "clever")

    points = judge(claim, edited(a_session(claim), at_one), CPU).points
    assert [(point.n, point.reason) for point in points] == [(19, "clear"), (20, "clear")]

    def another(data: dict[str, Any]) -> None:
        fail(data, lambda run: run["arm"] == "other" and run["block"] == 7)

    found = judge(CLAIM, edited(a_session(CLAIM, controls=("plain", "other")), another), CPU)
    assert found.points[0].n == 20


def test_an_exception_while_judging_gives_no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object, **_more: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(import_module("headroom.maths.statistics"), "compare", broken)
    (point,) = judge(CLAIM, a_session(CLAIM), CPU).points
    assert (point.verdict, point.reason) == ("inconclusive", "statistics_raised (ZeroDivisionError)")
    assert math.isnan(point.ratio)
    assert (point.low, point.high, point.n, point.level) == (0.0, math.inf, 20, 0.99)


def test_a_flipping_claim_has_the_reason_depends_on_the_point() -> None:
    claim = a_claim(scope=a_sweep(1, 8))
    found = judge(claim, a_session(claim, lambda point: 1.5 if point["batch_size"] == 8 else 0.5), CPU)
    assert (found.verdict, found.reason) == ("flips", "depends on the point")


@pytest.mark.parametrize("judged", [compare, compare_exact])
def test_samples_beyond_1e75_and_below_1e_75_are_refused(judged: Callable[..., Comparison]) -> None:
    """So that the product of two ratios is finite."""
    for edge, inside in ((1e-75, 1.001e-75), (1e75, 0.999e75)):
        assert judged([edge] * 10, [edge] * 10).reason == "bad_samples"
        assert judged([inside] * 10, [inside] * 10).reason == "negligible"


def test_equal_medians_do_not_contradict_the_typical_pair() -> None:
    baseline = [*range(1, 10), 10, 10, 10, *range(11, 20)]
    subject = [0.5, *baseline[:-1]]
    assert median(baseline) == median(subject)
    assert compare(baseline, subject, min_effect=0.0).reason == "clear"


@pytest.mark.parametrize(
    ("claim", "level"),
    [({}, 0.99), ({"relation": "not_worse", "margin": 0.1}, 0.90), ({"relation": "equal_within", "margin": 0.1}, 0.90)],
)
def test_the_default_level_follows_from_relation_and_points(claim: dict[str, Any], level: float) -> None:
    assert compare([2.0] * 20, [1.0] * 20, **claim).level == level
    for points, share in ((a_sweep(1, 8), 2), ({"fixed": {}, "hardware": ["cpu"]}, 1)):
        measured = a_claim(scope=points, **claim)
        assert {point.level for point in judge(measured, a_session(measured), CPU).points} == {1 - (1 - level) / share}


def test_every_gate_is_documented_in_order() -> None:
    page = Path(__file__).parents[1] / "docs/contribute/statistics.md"
    documented = re.findall(r"^\| `([a-z_]+)` \|", page.read_text("utf-8").partition("## Gates")[2], re.MULTILINE)
    assert documented == [*gates.GATES, "tails_decide"]

"""Where gates begin to shut: what lies just inside their limits counts, and what lies just outside does not."""

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
    """Why a session says what it says of the claim, with these fields changed."""
    return judge(a_claim(**changes), evidence, CPU).reason


def step(seconds: list[float], flops: float) -> Edit:
    """One run took so long for so many operations."""

    def edit(data: dict[str, Any]) -> None:
        runs_of(data, "clever")[7].update(samples={"step_time": seconds}, flops=flops)

    return edit


def outputs(plain: float, clever: float) -> Evidence:
    """A session whose arms computed this."""

    def edit(data: dict[str, Any]) -> None:
        for run in data["runs"]:
            run["output"] = clever if run["arm"] == "clever" else plain

    return session(edit)


def test_an_output_may_differ_by_the_tolerance() -> None:
    """And by no more, in relation to the baseline's, whatever its sign."""
    assert reason(outputs(2.0, 3.0), tolerance=0.5) == "clear"
    assert reason(outputs(2.0, 3.001), tolerance=0.5) == "output_differs"
    assert reason(outputs(-2.0, -1.0), tolerance=0.5) == "clear"
    assert reason(outputs(3.0, 1.0), tolerance=0.5) == "output_differs"


def test_a_step_may_be_as_fast_as_the_hardware() -> None:
    """And no faster, by any of its samples."""
    assert reason(session(step([SECONDS], SECONDS * 1e12))) == "clear"
    assert reason(session(step([SECONDS], SECONDS * 1.001e12))) == "faster_than_hardware"
    assert reason(session(step([SECONDS, 0.001, SECONDS], SECONDS * 1e12))) == "faster_than_hardware"


@pytest.mark.parametrize("seconds", [None, [], [0.0], [1e-12]])
def test_throughput_needs_possible_step_times(seconds: list[float] | None) -> None:
    """The roofline bounds the step times that a throughput follows from: missing or impossible ones are refused."""
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
def test_others_may_have_a_tenth_of_the_cores(shares: tuple[float | None, ...], load: float, expected: str) -> None:
    """On the mean over the runs; where nobody counted, the load before must have left a core free."""

    def edit(data: dict[str, Any]) -> None:
        data["environment"]["load_before"] = load
        for run in data["runs"]:
            run["others_cpu"] = shares[run["block"] % len(shares)]

    assert reason(session(edit)) == expected


def test_bytes_are_the_same_on_a_busy_machine() -> None:
    """They are counted, whatever else runs."""
    claim = a_claim(metric={"name": "saved_for_backward"})

    def edit(data: dict[str, Any]) -> None:
        data["environment"]["load_before"] = 64.0
        for run in data["runs"]:
            run["others_cpu"] = 0.9

    assert judge(claim, edited(a_session(claim), edit), CPU).reason == "clear"


def test_gates_that_need_a_class_are_not_tried_without_one() -> None:
    """Whoever judges a session alone is told what its figures say."""
    fast = session(step([SECONDS], 1e15))
    assert judge(CLAIM, fast).reason == "clear"
    assert judge(CLAIM, fast, CPU).reason == "faster_than_hardware"


def test_a_run_with_the_inputs_of_another_block_is_not_paired() -> None:
    """Also where no seed is new."""
    assert reason(session(one("input_seed", 1008))) == "inputs_not_paired"


@pytest.mark.parametrize(("arm", "control"), [("plain", False), ("clever", False), ("plain", True)])
@pytest.mark.parametrize(("failed", "expected"), [(2, "clear"), (3, "failed_runs")])
def test_a_tenth_of_the_runs_of_any_arm_may_fail(arm: str, control: bool, failed: int, expected: str) -> None:  # noqa: FBT001
    """Two of twenty, which take their blocks out."""

    def edit(data: dict[str, Any]) -> None:
        fail(data, lambda run: (run["arm"], run["control"]) == (arm, control) and run["block"] < failed)

    assert reason(session(edit)) == expected


def test_every_block_needs_its_control(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has none is enough, also where no other gate looks."""
    monkeypatch.setattr(gates, "GATES", {"control_missing": gates.GATES["control_missing"]})

    def edit(data: dict[str, Any]) -> None:
        data["runs"].remove(runs_of(data, "plain", control=True)[7])

    assert reason(session(edit)) == "control_missing"
    assert reason(a_session(CLAIM)) == "clear"


@pytest.mark.parametrize(("spread", "expected"), [(0.01, "clear"), (0.0, "control_failed")])
def test_bytes_of_a_control_may_differ_by_less_than_they_vary(spread: float, expected: str) -> None:
    """They are compared as bytes are: over all blocks, and not pair by pair."""
    claim = a_claim(metric={"name": "saved_for_backward"})

    def edit(data: dict[str, Any]) -> None:
        for run in data["runs"]:
            if run["arm"] == "plain":
                value = 2.0**30 * (1 + spread * (run["block"] % 2)) * (1.005 if run["control"] else 1)
                run["samples"]["saved_for_backward"] = [value]

    assert judge(claim, edited(a_session(claim), edit), CPU).reason == expected


def test_medians_that_contradict_the_typical_pair_leave_a_session_open() -> None:
    """Nearly every block gains, and three lose so much that the subject's median is above the baseline's."""

    def edit(data: dict[str, Any]) -> None:
        for run in data["runs"]:
            plain = 1.1 ** run["block"]
            clever = 1.1**40 if run["block"] < 3 else plain / 1.1
            seconds = clever if run["arm"] == "clever" else plain
            run["samples"]["step_time"] = [seconds * (1 + 1e-9 * (3 * run["block"] + run["position"]))]

    assert reason(session(edit, blocks=30)) == "tails_decide"


def test_as_many_blocks_as_the_claim_fixes_are_enough() -> None:
    """More are no fault."""
    assert reason(a_session(CLAIM, blocks=20)) == "clear"
    assert reason(a_session(CLAIM, blocks=21)) == "clear"
    assert reason(a_session(CLAIM, blocks=20), blocks=21) == "too_few_blocks"


def test_planned_blocks_are_counted_before_they_are_listed() -> None:
    """A session of a program that plans 2**62 blocks is refused at once."""
    made = a_session(CLAIM)
    endless = made.model_copy(update={"design": made.design.model_copy(update={"blocks": 2**62})})
    assert reason(endless) == "too_few_blocks"


def clock(ends: float) -> Evidence:
    """A session whose runs start one second after another, and end so long after their start."""

    def edit(data: dict[str, Any]) -> None:
        ordered = sorted(data["runs"], key=lambda run: (run["block"], run["position"]))
        for number, run in enumerate(ordered):
            run["started"], run["ended"] = float(number), number + ends

    return session(edit)


@pytest.mark.parametrize(("ends", "expected"), [(1.0, "clear"), (1.001, "order_not_random"), (0.0, "order_not_random")])
def test_a_run_ends_after_its_start_and_before_the_next(ends: float, expected: str) -> None:
    """It may start at the moment at which the one before it ends."""
    assert reason(clock(ends)) == expected


def test_one_slot_filled_twice_is_enough() -> None:
    """All others may be as they should."""

    def edit(data: dict[str, Any]) -> None:
        data["runs"].append({**runs_of(data, "clever")[7], "position": 3, "samples": {"step_time": [0.06]}})

    assert reason(session(edit)) == "repeated_runs"


def test_a_block_without_the_metric_is_left_out() -> None:
    """One more was measured, so enough are left."""

    def edit(data: dict[str, Any]) -> None:
        runs_of(data, "clever")[7]["samples"] = {"throughput": [1.0]}

    found = judge(CLAIM, session(edit, blocks=21), CPU)
    assert (found.reason, found.points[0].n) == ("clear", 20)


def test_what_fails_elsewhere_takes_no_block_out() -> None:
    """At another point, or of an arm that the claim is not about."""
    claim = a_claim(scope=a_sweep(1, 8))

    def at_one(data: dict[str, Any]) -> None:
        fail(data, lambda run: run["block"] == 7 and run["point"] == {"batch_size": 1} and run["arm"] == "clever")

    points = judge(claim, edited(a_session(claim), at_one), CPU).points
    assert [(point.n, point.reason) for point in points] == [(19, "clear"), (20, "clear")]

    def another(data: dict[str, Any]) -> None:
        fail(data, lambda run: run["arm"] == "other" and run["block"] == 7)

    found = judge(CLAIM, edited(a_session(CLAIM, controls=("plain", "other")), another), CPU)
    assert found.points[0].n == 20


def test_a_judgement_that_breaks_shows_no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """But how many blocks there were, and why it says nothing."""

    def broken(*_arguments: object, **_more: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(import_module("headroom.maths.statistics"), "compare", broken)
    (point,) = judge(CLAIM, a_session(CLAIM), CPU).points
    assert (point.verdict, point.reason) == ("inconclusive", "statistics_raised (ZeroDivisionError)")
    assert math.isnan(point.ratio)
    assert (point.low, point.high, point.n, point.level) == (0.0, math.inf, 20, 0.99)


def test_a_claim_that_flips_says_that_it_depends_on_the_point() -> None:
    """No reason of a single point is that of all."""
    claim = a_claim(scope=a_sweep(1, 8))
    found = judge(claim, a_session(claim, lambda point: 1.5 if point["batch_size"] == 8 else 0.5), CPU)
    assert (found.verdict, found.reason) == ("flips", "depends on the point")


@pytest.mark.parametrize("judged", [compare, compare_exact])
def test_samples_lie_within_what_a_float_can_bear(judged: Callable[..., Comparison]) -> None:
    """The product of two ratios is to stay a number: 1e-75 and 1e75 are beyond, and what lies between is not."""
    for edge, inside in ((1e-75, 1.001e-75), (1e75, 0.999e75)):
        assert judged([edge] * 10, [edge] * 10).reason == "bad_samples"
        assert judged([inside] * 10, [inside] * 10).reason == "negligible"


def test_medians_that_are_equal_point_in_no_direction() -> None:
    """Only medians that say the opposite of the typical pair leave a claim open."""
    baseline = [*range(1, 10), 10, 10, 10, *range(11, 20)]
    subject = [0.5, *baseline[:-1]]
    assert median(baseline) == median(subject)
    assert compare(baseline, subject, min_effect=0.0).reason == "clear"


@pytest.mark.parametrize(
    ("claim", "level"),
    [({}, 0.99), ({"relation": "not_worse", "margin": 0.1}, 0.90), ({"relation": "equal_within", "margin": 0.1}, 0.90)],
)
def test_a_level_that_is_not_given_is_the_one_of_the_relation(claim: dict[str, Any], level: float) -> None:
    """A gain is claimed more carefully than that there is none, and points of a sweep share what may go wrong."""
    assert compare([2.0] * 20, [1.0] * 20, **claim).level == level
    for points, share in ((a_sweep(1, 8), 2), ({"fixed": {}, "hardware": ["cpu"]}, 1)):
        measured = a_claim(scope=points, **claim)
        assert {point.level for point in judge(measured, a_session(measured), CPU).points} == {1 - (1 - level) / share}


def test_every_gate_is_explained() -> None:
    """In the order in which the first that shuts is named; what no gate sees comes last."""
    page = Path(__file__).parents[1] / "docs/contribute/statistics.md"
    told = re.findall(r"^\| `([a-z_]+)` \|", page.read_text("utf-8").partition("## Gates")[2], re.MULTILINE)
    assert told == [*gates.GATES, "tails_decide"]

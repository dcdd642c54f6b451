"""Where gates begin to shut: what lies just inside their limits counts, and what lies just outside does not."""

from typing import Any

import pytest

from headroom.records import Evidence, HardwareClass
from headroom.verdicts import gates, judge
from test_sessions import Edit, fail, one, runs_of, session
from trees import CLASSES, a_claim, a_session, edited

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


def test_as_many_blocks_as_the_claim_fixes_are_enough() -> None:
    """More are no fault."""
    assert reason(a_session(CLAIM, blocks=20)) == "clear"
    assert reason(a_session(CLAIM, blocks=21)) == "clear"
    assert reason(a_session(CLAIM, blocks=20), blocks=21) == "too_few_blocks"

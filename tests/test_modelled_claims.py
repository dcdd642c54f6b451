"""Modelled claims: values, errors against measurements, and forbidden validation."""

from pathlib import Path
from typing import Any

import pytest

from factories import a_claim, a_session, a_sweep, edited, write_tree
from headroom.pages.link_targets import ClaimTarget
from headroom.pages.measured_figures import measured
from headroom.records import ModelledClaim, Tree
from headroom.verdicts import Board, Computed, judge_all
from headroom.verdicts.claim_figures import range_of, value_of
from headroom.verdicts.summary import rows

TIMED = a_claim(scope=a_sweep(1, 8))
FIGURE = {"claim": TIMED.id, "figure": "baseline", "hardware": "cpu", "point": {"batch_size": 8}}
ONE = {**FIGURE, "point": {"batch_size": 1}}
MODEL: dict[str, Any] = {
    "id": "training.model",
    "kind": "modelled",
    "statement": "A plain step takes so long a sequence.",
    "method": "cleverness",
    "guide": "training/guide.md",
    "not_claimed": ["other models"],
    "formula": "sequences * seconds",
    "variables": {
        "sequences": {"value": 8, "unit": "sequences", "meaning": "of a batch"},
        "seconds": {"value": 100, "unit": "ms/sequence", "meaning": "of one"},
    },
    "predicts": {"name": "a step", "unit": "ms"},
    "validity": {"words": "small batches", "bounds": {"sequences": {"at_least": 1, "at_most": 16}}},
    "validated_by": [{**FIGURE, "tolerance": 0.1}],
}


def seconds(**by_size: float) -> Any:
    """Return an edit that sets the time of plain steps, by batch size."""

    def edit(data: dict[str, Any]) -> None:
        for i, run in enumerate(data["runs"]):
            typical = by_size[f"b{run['point']['batch_size']:g}"] / (1 if run["arm"] == "plain" else 1.5)
            run["samples"] = {"step_time": [typical * (1 + 1e-5 * (i * 37 % 101 - 50) + 1e-9 * i)]}
            run["flops"] = 1.0

    return edit


def judged(tmp_path: Path, **changes: Any) -> tuple[Tree, Board, Computed]:
    """Return a model with one session, in which a plain step takes 0.1 s for batch size 1 and 0.82 s for 8."""
    from headroom.records import load  # noqa: PLC0415 - after the tree is written

    model = ModelledClaim.model_validate({**MODEL, **changes})
    tree = load(write_tree(tmp_path, [TIMED], [edited(a_session(TIMED), seconds(b1=0.1, b8=0.82))]))
    tree = type(tree)(
        **{**{name: getattr(tree, name) for name in Tree.__slots__}, "claims": {**tree.claims, model.id: model}}
    )
    found = judge_all(tree)
    return tree, found, found.models[model.id]


def test_a_model_is_compared_with_measurements(tmp_path: Path) -> None:
    """It predicts 800 ms, and 820 ms were measured: 2.4 % too little."""
    _, found, model = judged(tmp_path)
    (check,) = model.checks
    assert model.result
    assert model.result.value == pytest.approx(800)
    assert check.error == pytest.approx(-20 / 820, abs=1e-3)
    assert (model.status, check.holds, model.faults) == ("modelled", True, ())
    assert model.reason == "validated at 1 point, largest error 2.4 %"
    assert found.status(ModelledClaim.model_validate(MODEL), "h200") == "modelled"


def test_one_error_outside_the_tolerance_contradicts_the_model(tmp_path: Path) -> None:
    checks = [{**FIGURE, "tolerance": 0.01}, {**ONE, "at": {"sequences": 1}, "tolerance": 0.01}]
    tree, found, model = judged(tmp_path, validated_by=checks)
    assert [check.holds for check in model.checks] == [False, True]
    assert model.status == "contradicted"
    assert model.reason == "compared at 2 points, largest error 2.4 %, 1 outside the tolerance"
    assert [(row.status, row.reason) for row in rows(tree, found) if row.claim == "training.model"] == [
        ("contradicted", model.reason)
    ]


def test_an_error_of_exactly_the_tolerance_is_accepted(tmp_path: Path) -> None:
    error = abs(judged(tmp_path)[2].checks[0].error or 0)
    for i, (tolerance, holds) in enumerate(((error, True), (error * 0.999, False))):
        checks = [{**FIGURE, "tolerance": tolerance}]
        assert judged(tmp_path / str(i), validated_by=checks)[2].checks[0].holds is holds


@pytest.mark.parametrize(
    "where",
    [{"hardware": "h200"}, {"claim": "training.never"}],
    ids=["on another class", "of a claim without a session"],
)
def test_a_validation_that_is_not_measured_yet_is_no_fault(tmp_path: Path, where: dict[str, str]) -> None:
    never = a_claim("training.never", benchmark="never", scope=a_sweep(1, 8))
    model = ModelledClaim.model_validate({**MODEL, "validated_by": [{**FIGURE, **where, "tolerance": 0.1}]})
    tree, _, _ = judged(tmp_path)
    claims = {**tree.claims, never.id: never, model.id: model}
    tree = type(tree)(**{**{name: getattr(tree, name) for name in Tree.__slots__}, "claims": claims})
    found = judge_all(tree).models[model.id]
    assert (found.status, found.faults, found.reason) == ("unmeasured", (), "not compared with a measurement yet")


def test_a_session_that_fails_a_gate_validates_no_formula(tmp_path: Path) -> None:
    claim = a_claim(scope=a_sweep(1, 8))

    def without_work(data: dict[str, Any]) -> None:
        seconds(b1=0.1, b8=0.82)(data)
        for run in data["runs"]:
            run["work_sha256"] = None

    from headroom.records import load  # noqa: PLC0415 - after the tree is written

    tree = load(write_tree(tmp_path, [claim], [edited(a_session(claim), without_work)]))
    model = ModelledClaim.model_validate(MODEL)
    tree = type(tree)(
        **{**{name: getattr(tree, name) for name in Tree.__slots__}, "claims": {**tree.claims, model.id: model}}
    )
    found = judge_all(tree).models[model.id]
    assert found.status == "unmeasured"
    assert found.checks[0].missing == f"the session of `{claim.id}` does not count: same_work"


class TestRanges:
    def test_break_even_of_two_arms_has_a_range(self, tmp_path: Path) -> None:
        variables = {
            "once": {"value": 3, "unit": "s", "meaning": "what it costs, once"},
            "plain": {"measured": FIGURE, "meaning": "a step without"},
            "clever": {"measured": {**FIGURE, "figure": "subject"}, "meaning": "a step with"},
        }
        _, _, model = judged(
            tmp_path,
            formula="ceil(once / (plain - clever))",
            variables=variables,
            predicts={"name": "steps until it pays", "unit": "1"},
            validity={"words": "long runs"},
            validated_by=[{**FIGURE, "figure": "ratio", "tolerance": 0.5}],
        )
        assert model.result
        assert model.result.value == 11  # 3 s over 0.82 - 0.547
        assert model.result.low <= model.result.value <= model.result.high

    def test_the_range_of_a_ratio_is_its_interval(self, tmp_path: Path) -> None:
        _, found, _ = judged(tmp_path)
        point = found.standings[TIMED.id]["cpu"].at({"batch_size": 8})
        assert point
        assert range_of("ratio", point, TIMED) == (point.low, point.high)
        assert range_of("slowdown", point, TIMED) == (1 / point.high, 1 / point.low)
        assert range_of("change", point, TIMED) == pytest.approx((1 / point.high - 1, 1 / point.low - 1))

    @pytest.mark.parametrize("name", ["subject", "baseline", "difference", "saving"])
    def test_the_range_of_a_median_is_the_sign_test_interval(self, tmp_path: Path, name: str) -> None:
        """Of 20 blocks, the fourth value from each end, at 99 %."""
        _, found, _ = judged(tmp_path)
        point = found.standings[TIMED.id]["cpu"].at({"batch_size": 8})
        assert point
        assert point.n == 20
        pairs = list(zip(point.subject, point.baseline, strict=True))
        samples = sorted({"subject": s, "baseline": b, "difference": s - b, "saving": b - s}[name] for s, b in pairs)
        assert range_of(name, point, TIMED) == (samples[3], samples[16])
        low, high = range_of(name, point, TIMED)
        assert low <= value_of(name, point, TIMED)[0] <= high


class TestFitted:
    def test_fitting_data_under_another_claims_name_is_refused_for_validation(self, tmp_path: Path) -> None:
        _, _, model = judged(tmp_path, fitted_on=[FIGURE])
        assert model.faults == (("validated_by.0", "the formula was fitted on this measurement"),)
        _, _, model = judged(tmp_path / "ratio", fitted_on=[{**FIGURE, "figure": "ratio"}])
        assert model.faults

    def test_another_point_or_arm_may_validate_a_fitted_formula(self, tmp_path: Path) -> None:
        assert judged(tmp_path, fitted_on=[ONE])[2].faults == ()
        assert judged(tmp_path / "arm", fitted_on=[{**FIGURE, "figure": "subject"}])[2].faults == ()


class TestFigures:
    def test_a_link_may_override_variables(self, tmp_path: Path) -> None:
        tree, found, _ = judged(tmp_path)
        assert measured(tree, found, ClaimTarget("training.model", "value")) == (pytest.approx(800), "ms")
        assert measured(tree, found, ClaimTarget("training.model", "value", None, {"sequences": 2})) == (
            pytest.approx(200), "ms",
        )  # fmt: skip

    def test_a_unit_that_texts_cannot_write_gives_a_plain_number(self, tmp_path: Path) -> None:
        variables = {**MODEL["variables"], "sequences": {"value": 8, "unit": "1", "meaning": "of a batch"}}
        predicts = {"name": "a step", "unit": "s/sequence"}
        tree, found, _ = judged(tmp_path, variables=variables, predicts=predicts)
        assert measured(tree, found, ClaimTarget("training.model", "value")) == (pytest.approx(0.8), "1")

"""The status of claims that are measured in part or not at all, and their lines in the terminal."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from factories import CITED, a_claim, a_session, a_sweep, edited, load_clean, write, write_tree
from headroom import records
from headroom.verdicts import judge_all
from headroom.verdicts.summary import VerdictRow, rows

CLAIM = a_claim()


def without(arm: str, point: dict[str, float]) -> Any:
    """Return an edit that removes the runs of an arm at a point."""

    def edit(data: dict[str, Any]) -> None:
        data["runs"] = [run for run in data["runs"] if (run["arm"], run["point"]) != (arm, point)]

    return edit


class TestMeasuredInPart:
    @pytest.mark.parametrize("arm", ["plain", "clever"])
    def test_a_session_with_one_arm_is_no_evidence(self, tmp_path: Path, arm: str) -> None:
        evidence = edited(a_session(CLAIM), without(arm, {}))
        found = judge_all(load_clean(write_tree(tmp_path, [CLAIM], [evidence]))).of(CLAIM, "cpu")
        assert (found.status, found.reason, found.verdict, found.void) == ("unmeasured", "no evidence yet", None, ())

    def test_points_that_a_session_lacks_are_inconclusive(self, tmp_path: Path) -> None:
        claim = a_claim(scope=a_sweep(1, 8))
        evidence = edited(a_session(claim), without("clever", {"batch_size": 1}))
        found = judge_all(load_clean(write_tree(tmp_path, [claim], [evidence]))).of(claim, "cpu")
        assert found.verdict is not None
        assert [point.reason == "not_measured" for point in found.verdict.points] == [True, False]
        assert (found.status, found.reason) == ("inconclusive", "not_measured")

    def test_an_unmeasured_claim_has_no_point(self, tmp_path: Path) -> None:
        found = judge_all(load_clean(write_tree(tmp_path, [CLAIM]))).of(CLAIM, "cpu")
        assert (found.at({}), found.others, found.session) == (None, (), None)


class TestRows:
    def test_a_cited_claim_is_as_stated(self, tmp_path: Path) -> None:
        root = write_tree(tmp_path, [CLAIM])
        write(root / "checks/registry/training/cited.yml", yaml.safe_dump(CITED, allow_unicode=True))
        tree = records.load(root)
        found = {row.claim: row for row in rows(tree, judge_all(tree))}
        nothing = ({}, None, None, None, 0, None)
        assert found["training.cited"] == VerdictRow("training.cited", "as stated", "cited", "author", *nothing)
        assert found[CLAIM.id] == VerdictRow(CLAIM.id, "cpu", "unmeasured", "no evidence yet", *nothing)
        assert judge_all(tree).status(tree.claims["training.cited"], "cpu") == "cited"

    def test_a_line_names_claim_class_point_verdict_reason_interval_and_blocks(self) -> None:
        known = ({"n": 8, "d": "bf16"}, 1.23456, 1.2, 1.3, 20, "a.json")
        assert str(VerdictRow("a.b", "cpu", "supported", "clear", *known)) == (
            "a.b on cpu at n=8, d=bf16: supported (clear), 1.235 [1.2, 1.3], 20 blocks"
        )
        nothing = ({}, None, None, None, 0, None)
        assert str(VerdictRow("a.b", "cpu", "unmeasured", "no evidence yet", *nothing)) == (
            "a.b on cpu: unmeasured (no evidence yet)"
        )

    def test_a_row_prints_how_far_machines_of_a_class_are_apart(self, tmp_path: Path) -> None:
        def on(product: str, ratio: float, day: str) -> Any:
            session = a_session(CLAIM, ratio, date=day, noise=0.001)
            return edited(session, lambda data: data["environment"].update(product=product))

        here = [on("Other Xeon", 1.3, "2026-11-18"), on("Other Xeon", 1.4, "2026-11-19"), on("Xeon", 1.5, "2026-11-20")]
        tree = load_clean(write_tree(tmp_path, [CLAIM], here))
        (row,) = rows(tree, judge_all(tree))
        assert [round(ratio, 1) for ratio in row.machines] == [1.4, 1.5]  # of each machine, the newest
        assert str(row).partition(" blocks")[2].partition(", fresh")[0] == (
            f", {row.machines[0]:.4g} to {row.machines[1]:.4g} on 2 machines"
        )
        (alone,) = rows(tree, judge_all(load_clean(write_tree(tmp_path / "b", [CLAIM], here[:2]))))
        assert alone.machines == ()

    def test_a_row_without_a_ratio_has_no_interval(self, tmp_path: Path) -> None:
        def empty(data: dict[str, Any]) -> None:
            for run in data["runs"]:
                run["samples"] = {"step_time": [0.0]}

        tree = load_clean(write_tree(tmp_path, [CLAIM], [edited(a_session(CLAIM), empty)]))
        (row,) = rows(tree, judge_all(tree))
        assert (row.status, row.ratio, row.low, row.high) == ("inconclusive", None, None, None)
        assert row.session == tree.sessions[0].path


class TestCarriedOver:
    @pytest.mark.parametrize(
        ("measured", "status"), [([], "unmeasured"), ([0.7], "contradicted"), ([1.5], "supported")]
    )
    def test_a_class_without_evidence_takes_the_status_of_the_others(
        self, tmp_path: Path, measured: list[float], status: str
    ) -> None:
        metric = {"name": "saved_for_backward", "carries_over": True}
        claim = a_claim(metric=metric, scope={"fixed": {}, "hardware": ["cpu", "h200"]})
        found = judge_all(load_clean(write_tree(tmp_path, [claim], [a_session(claim, ratio) for ratio in measured])))
        assert [found.status(claim, name) for name in ("cpu", "h200", "elsewhere")] == [status] * 3


def test_a_class_that_the_claim_does_not_name_is_unmeasured(tmp_path: Path) -> None:
    found = judge_all(load_clean(write_tree(tmp_path, [CLAIM]))).of(CLAIM, "elsewhere")
    assert (found.status, found.reason) == ("unmeasured", "no evidence yet")
    assert (found.session, found.verdict, found.others, found.void) == (None, None, (), ())

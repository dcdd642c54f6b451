"""Judge the evidence of a tree, from files to statuses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from factories import (
    BENCHMARK,
    H200,
    MACHINE,
    a_claim,
    a_session,
    a_sweep,
    edited,
    load_clean,
    standing,
    verdict,
    write,
    write_tree,
)
from headroom.records import Evidence
from headroom.verdicts import judge_all
from headroom.verdicts.summary import rows

CLAIM = a_claim()
MEMORY = {"name": "saved_for_backward"}


def at_batch(ratios: Mapping[int, float]) -> Any:
    """Return a function from a point to the ratio of its batch size."""
    return lambda point: ratios[point["batch_size"]]


def on(evidence: Evidence, **environment: Any) -> Evidence:
    """Return the session as run on another machine."""
    return edited(evidence, lambda data: data["environment"].update(environment))


class TestOnePoint:
    @pytest.mark.parametrize(
        ("ratio", "noise", "word", "reason"),
        [
            (1.5, 0.02, "supported", "clear"),
            (1 / 1.5, 0.02, "contradicted", "reversed"),
            (1.005, 0.002, "contradicted", "negligible"),
            (1.03, 0.05, "inconclusive", "wide"),
        ],
    )
    def test_the_ratio_gives_the_verdict(
        self, tmp_path: Path, ratio: float, noise: float, word: str, reason: str
    ) -> None:
        """The estimate is near the true ratio, inside its interval."""
        found = verdict(tmp_path, CLAIM, a_session(CLAIM, ratio, noise=noise))
        (point,) = found.points
        assert (found.verdict, found.reason) == (point.verdict, point.reason) == (word, reason)
        assert point.low < point.ratio < point.high
        assert point.ratio == pytest.approx(ratio, rel=2 * noise)
        assert (point.n, point.level) == (20, 0.99)
        assert [len(point.baseline), len(point.subject), len(point.control)] == [20, 20, 20]

    @pytest.mark.parametrize(("relation", "words"), [("not_worse", "supported"), ("equal_within", "contradicted")])
    def test_a_margin_has_one_side_or_two(self, tmp_path: Path, relation: str, words: str) -> None:
        """At 90 %: an equal subject is within both limits, a worse one within neither, and better is not equal."""
        claim = a_claim(relation=relation, margin=0.1)
        for ratio, word in ((1.0, "supported"), (0.8, "contradicted"), (1.3, words)):
            found = verdict(tmp_path / str(ratio), claim, a_session(claim, ratio))
            assert (found.verdict, found.points[0].level) == (word, 0.9)

    def test_each_claim_has_its_own_least_effect(self, tmp_path: Path) -> None:
        small, large = a_claim(min_effect=0.2), a_claim("training.large", min_effect=0.8)
        found = judge_all(load_clean(write_tree(tmp_path, [small, large], [a_session(small)])))
        assert found.status(small, "cpu") == "supported"
        assert found.of(large, "cpu").reason == "negligible"

    def test_a_run_counts_as_the_median_of_its_samples(self, tmp_path: Path) -> None:
        def spread(data: dict[str, Any]) -> None:
            for run in data["runs"]:
                middle = run["samples"]["step_time"][0]
                run["samples"]["step_time"] = [middle * 0.99, middle * 50, middle]

        spread_out = edited(a_session(CLAIM), spread)
        assert verdict(tmp_path / "a", CLAIM, spread_out) == verdict(tmp_path / "b", CLAIM, a_session(CLAIM))

    def test_a_higher_throughput_is_better(self, tmp_path: Path) -> None:
        claim = a_claim(metric={"name": "throughput"})

        def with_step_times(data: dict[str, Any]) -> None:
            for run in data["runs"]:
                run["samples"]["step_time"] = [1.0]

        up, down = (edited(a_session(claim, ratio), with_step_times) for ratio in (1.5, 1 / 1.5))
        found = verdict(tmp_path / "up", claim, up)
        assert found.verdict == "supported"
        assert found.points[0].ratio == pytest.approx(1.5, rel=0.02)
        assert found.points[0].subject[0] > found.points[0].baseline[0]
        assert verdict(tmp_path / "down", claim, down).reason == "reversed"

    def test_bytes_are_compared_exactly(self, tmp_path: Path) -> None:
        claim = a_claim(metric=MEMORY)
        found = verdict(tmp_path / "a", claim, a_session(claim, 2.0))
        assert (found.verdict, found.reason) == ("supported", "clear")
        assert (found.points[0].ratio, found.points[0].low, found.points[0].level) == (2.0, 2.0, 1.0)
        assert verdict(tmp_path / "b", claim, a_session(claim, 1.0)).reason == "negligible"

    def test_a_control_that_differs_by_one_byte_is_refused(self, tmp_path: Path) -> None:
        claim = a_claim(metric=MEMORY)

        def one_more(data: dict[str, Any]) -> None:
            for run in data["runs"]:
                run["samples"]["saved_for_backward"][0] += run["control"]

        found = verdict(tmp_path, claim, edited(a_session(claim, 2.0), one_more))
        assert (found.verdict, found.reason) == ("inconclusive", "control_failed")

    def test_swapping_the_arms_mirrors_the_verdict(self, tmp_path: Path) -> None:
        other = a_claim("training.plain", subject="plain", baseline="clever")
        session = a_session(CLAIM, controls=("plain", "clever"))
        found = judge_all(load_clean(write_tree(tmp_path, [CLAIM, other], [session])))
        here, there = found.of(CLAIM, "cpu").verdict, found.of(other, "cpu").verdict
        assert here is not None
        assert there is not None
        assert (here.verdict, there.verdict, there.reason) == ("supported", "contradicted", "reversed")
        (point,), (mirrored,) = here.points, there.points
        mirror = [1 / point.ratio, 1 / point.high, 1 / point.low]
        assert [mirrored.ratio, mirrored.low, mirrored.high] == pytest.approx(mirror, rel=1e-12)

    def test_an_unrelated_claim_does_not_change_a_verdict(self, tmp_path: Path) -> None:
        other = a_claim("training.other", benchmark="another")
        alone = standing(write_tree(tmp_path / "a", [CLAIM], [a_session(CLAIM)]), CLAIM)
        sessions = [a_session(CLAIM), a_session(other, 0.5, seed=1)]
        assert standing(write_tree(tmp_path / "b", [CLAIM, other], sessions), CLAIM) == alone


class TestSweep:
    def test_points_of_a_sweep_share_the_error(self, tmp_path: Path) -> None:
        """By the Bonferroni correction, for every relation."""
        claim = a_claim(scope=a_sweep(1, 2, 4, 8))
        found = verdict(tmp_path / "a", claim, a_session(claim))
        assert found.verdict == "supported"
        assert [point.point for point in found.points] == [{"batch_size": size} for size in (1, 2, 4, 8)]
        assert [point.level for point in found.points] == pytest.approx([1 - 0.01 / 4] * 4)
        within = a_claim(scope=a_sweep(1, 2), relation="not_worse", margin=0.05)
        points = verdict(tmp_path / "b", within, a_session(within)).points
        assert [point.level for point in points] == pytest.approx([0.95] * 2)

    def test_a_claim_supported_and_contradicted_at_different_points_flips(self, tmp_path: Path) -> None:
        claim = a_claim(scope=a_sweep(1, 2, 4))
        root = write_tree(tmp_path, [claim], [a_session(claim, at_batch({1: 0.7, 2: 1.02, 4: 1.5}))])
        found = standing(root, claim)
        assert found.status == "flips"
        assert found.verdict is not None
        words = [point.verdict for point in found.verdict.points]
        assert words == ["contradicted", "inconclusive", "supported"]

    @pytest.mark.parametrize("other", [1.5, 0.7])
    def test_one_inconclusive_point_makes_the_claim_inconclusive(self, tmp_path: Path, other: float) -> None:
        claim = a_claim(scope=a_sweep(1, 4))
        found = verdict(tmp_path, claim, a_session(claim, at_batch({1: other, 4: 1.02})))
        assert (found.verdict, found.reason) == ("inconclusive", "wide")

    def test_points_that_are_not_asserted_are_shown_and_do_not_count(self, tmp_path: Path) -> None:
        claim = a_claim(scope=a_sweep(1, 4, 8, holds_for="batch_size >= 4"))
        found = verdict(tmp_path, claim, a_session(claim, at_batch({1: 0.7, 4: 1.5, 8: 1.6})))
        assert (found.verdict, found.reason) == ("supported", "clear")
        assert [point.asserted for point in found.points] == [False, True, True]
        assert [point.verdict for point in found.points] == ["contradicted", "supported", "supported"]
        assert [point.level for point in found.points] == pytest.approx([1 - 0.01 / 3] * 3)

    def test_a_point_is_found_by_its_values(self, tmp_path: Path) -> None:
        claim = a_claim(scope=a_sweep(1, 4))
        found = standing(write_tree(tmp_path, [claim], [a_session(claim)]), claim)
        point = found.at({"batch_size": 4})
        assert point is not None
        assert point.point == {"batch_size": 4}
        assert found.at({}) is None
        assert found.at({"batch_size": 2}) is None
        assert found.at({"tokens": 4}) is None

    def test_rows_name_every_point(self, tmp_path: Path) -> None:
        claim, never = a_claim(scope=a_sweep(1, 4)), a_claim("training.never", benchmark="never")
        tree = load_clean(write_tree(tmp_path, [claim, never], [a_session(claim)]))
        found = list(rows(tree, judge_all(tree)))
        assert [(row.claim, row.point, row.status) for row in found] == [
            (claim.id, {"batch_size": 1}, "supported"),
            (claim.id, {"batch_size": 4}, "supported"),
            (never.id, {}, "unmeasured"),
        ]
        assert str(found[1]).startswith("training.clever on cpu at batch_size=4: supported (clear), 1.")
        assert str(found[2]) == "training.never on cpu: unmeasured (no evidence yet)"


class TestStanding:
    @pytest.mark.parametrize(
        ("environment", "status"),
        [
            ({}, "disputed"),
            ({"versions": {"torch": "2.13.9+cpu"}}, "disputed"),
            ({"versions": {"torch": "2.12.0"}}, "contradicted"),
            ({"product": "Another Xeon"}, "contradicted"),
        ],
    )
    def test_sessions_that_disagree_on_equal_machines_are_a_dispute(
        self, tmp_path: Path, environment: dict[str, Any], status: str
    ) -> None:
        """On another product or minor version of torch, the newest session decides."""
        old = on(a_session(CLAIM, 1.5, date="2026-11-19"), **environment)
        new = a_session(CLAIM, 0.7, date="2026-11-20")
        assert standing(write_tree(tmp_path, [CLAIM], [old, new]), CLAIM).status == status

    def test_a_negligible_effect_is_no_dispute(self, tmp_path: Path) -> None:
        old, new = a_session(CLAIM, 1.5, date="2026-11-19"), a_session(CLAIM, 1.005, noise=0.002)
        found = standing(write_tree(tmp_path, [CLAIM], [old, new]), CLAIM)
        assert (found.status, found.reason) == ("contradicted", "negligible")

    def test_the_newest_session_counts_and_older_ones_are_kept(self, tmp_path: Path) -> None:
        """Dates decide, not the names of the files."""
        days = enumerate(("2026-11-18", "2026-12-01", "2026-11-30"))
        sessions = [a_session(CLAIM, 1.3 + i / 10, date=day) for i, day in days]
        found = standing(write_tree(tmp_path, [CLAIM], sessions), CLAIM)
        assert found.session is not None
        assert found.session.evidence.date == "2026-12-01"
        assert [session.evidence.date for session, _ in found.others] == ["2026-11-30", "2026-11-18"]

    def test_sessions_of_a_day_are_ordered_by_their_time(self, tmp_path: Path) -> None:
        """A session without a time comes first."""
        times = enumerate(("23:59:59", None, "00:00:00"))
        sessions = [a_session(CLAIM, 1.3 + i / 10, time=time) for i, time in times]
        found = standing(write_tree(tmp_path, [CLAIM], sessions), CLAIM)
        assert found.session is not None
        assert [s.head.time for s in (found.session, *(s for s, _ in found.others))] == ["23:59:59", "00:00:00", None]

    def test_a_changed_benchmark_makes_its_evidence_void(self, tmp_path: Path) -> None:
        """A changed comment does not."""
        root = write_tree(tmp_path, [CLAIM], [a_session(CLAIM)])
        script = root / "checks/benchmarks/made_up.py"
        write(script, BENCHMARK.replace("# of any arm", "# whichever").replace("Two arms.", "A pair of arms."))
        assert standing(root, CLAIM).status == "supported"
        write(script, BENCHMARK.replace("1.0", "2.0"))
        found = standing(root, CLAIM)
        assert (found.status, found.reason, len(found.void)) == ("unmeasured", "its benchmark has changed", 1)

    def test_a_session_after_the_change_counts_and_void_ones_do_not(self, tmp_path: Path) -> None:
        changed = BENCHMARK.replace("1.0", "2.0")
        sessions = [a_session(CLAIM, 0.7, date="2026-12-01"), a_session(CLAIM, 1.5, syntax=changed)]
        root = write_tree(tmp_path, [CLAIM], sessions, benchmarks={"made_up": changed})
        found = standing(root, CLAIM)
        assert (found.status, len(found.void), found.others) == ("supported", 1, ())

    @pytest.mark.parametrize(("carries", "status"), [(True, "supported"), (False, "unmeasured")])
    def test_only_metrics_that_carry_over_apply_to_unmeasured_hardware(
        self,
        tmp_path: Path,
        carries: object,
        status: str,
    ) -> None:
        claim = a_claim(metric={**MEMORY, "carries_over": carries}, scope=_scope("cpu", "h200"))
        found = judge_all(load_clean(write_tree(tmp_path, [claim], [a_session(claim)])))
        assert found.status(claim, "h200") == found.status(claim, "elsewhere") == status
        assert found.of(claim, "h200").status == "unmeasured"

    def test_verdicts_are_per_class(self, tmp_path: Path) -> None:
        claim = a_claim(metric={**MEMORY, "carries_over": True}, scope=_scope("cpu", "h200"))
        gpu = on(a_session(claim, 0.7, hardware_class="h200"), **H200)
        found = judge_all(load_clean(write_tree(tmp_path, [claim], [a_session(claim), gpu])))
        assert [found.status(claim, name) for name in ("cpu", "h200")] == ["supported", "contradicted"]
        assert found.status(claim, "elsewhere") == "disputed"

    def test_a_session_without_the_claims_arms_metric_or_points_does_not_count(self, tmp_path: Path) -> None:
        others = [
            a_claim("training.arm", subject="cleverer"),
            a_claim("training.metric", metric={"name": "peak_allocated"}),
            a_claim("training.point", scope={**_scope("cpu"), "at": {"batch_size": 2}}),
            a_claim("training.benchmark", benchmark="another"),
        ]
        found = judge_all(load_clean(write_tree(tmp_path, [CLAIM, *others], [a_session(CLAIM)])))
        assert [found.status(claim, "cpu") for claim in (CLAIM, *others)] == ["supported"] + ["unmeasured"] * 4

    def test_the_made_up_machine_belongs_to_one_class(self, tmp_path: Path) -> None:
        tree = load_clean(write_tree(tmp_path))
        assert [name for name, known in tree.classes.items() if known.holds(MACHINE)] == ["cpu"]
        amx = on(a_session(CLAIM), instruction_sets=["avx512_bf16", "amx_bf16"]).environment
        assert not any(known.holds(amx) for known in tree.classes.values())


def _scope(*hardware: str) -> dict[str, Any]:
    return {"fixed": {}, "hardware": list(hardware)}

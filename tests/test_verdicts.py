"""What the evidence of a tree says of its claims, from files to status."""

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
    """The ratio of each point of a sweep of the batch size."""
    return lambda point: ratios[point["batch_size"]]


def on(evidence: Evidence, **environment: Any) -> Evidence:
    """The session as run on another machine."""
    return edited(evidence, lambda data: data["environment"].update(environment))


class TestOnePoint:
    """A claim of one point."""

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
        """With the estimate near the truth, inside its interval."""
        found = verdict(tmp_path, CLAIM, a_session(CLAIM, ratio, noise=noise))
        (point,) = found.points
        assert (found.verdict, found.reason) == (point.verdict, point.reason) == (word, reason)
        assert point.low < point.ratio < point.high
        assert point.ratio == pytest.approx(ratio, rel=2 * noise)
        assert (point.n, point.level) == (20, 0.99)
        assert [len(point.baseline), len(point.subject), len(point.control)] == [20, 20, 20]

    @pytest.mark.parametrize(("relation", "words"), [("not_worse", "supported"), ("equal_within", "contradicted")])
    def test_a_margin_has_one_side_or_two(self, tmp_path: Path, relation: str, words: str) -> None:
        """At the level of 90 %: equal is within both, worse within neither, and better is not equal."""
        claim = a_claim(relation=relation, margin=0.1)
        for ratio, word in ((1.0, "supported"), (0.8, "contradicted"), (1.3, words)):
            found = verdict(tmp_path / str(ratio), claim, a_session(claim, ratio))
            assert (found.verdict, found.points[0].level) == (word, 0.9)

    def test_the_least_effect_is_the_claims(self, tmp_path: Path) -> None:
        """The same session supports one and contradicts the other."""
        small, large = a_claim(min_effect=0.2), a_claim("training.large", min_effect=0.8)
        found = judge_all(load_clean(write_tree(tmp_path, [small, large], [a_session(small)])))
        assert found.status(small, "cpu") == "supported"
        assert found.of(large, "cpu").reason == "negligible"

    def test_a_run_counts_once_however_many_samples_it_holds(self, tmp_path: Path) -> None:
        """As the median of them, so one outlier inside a run decides nothing."""

        def spread(data: dict[str, Any]) -> None:
            for run in data["runs"]:
                middle = run["samples"]["step_time"][0]
                run["samples"]["step_time"] = [middle * 0.99, middle * 50, middle]

        spread_out = edited(a_session(CLAIM), spread)
        assert verdict(tmp_path / "a", CLAIM, spread_out) == verdict(tmp_path / "b", CLAIM, a_session(CLAIM))

    def test_more_is_better_where_the_metric_says_so(self, tmp_path: Path) -> None:
        """A throughput that rises is an improvement, and one that falls is none."""
        claim = a_claim(metric={"name": "throughput"})
        up, down = a_session(claim, 1.5), a_session(claim, 1 / 1.5)
        found = verdict(tmp_path / "up", claim, up)
        assert found.verdict == "supported"
        assert found.points[0].ratio == pytest.approx(1.5, rel=0.02)
        assert found.points[0].subject[0] > found.points[0].baseline[0]
        assert verdict(tmp_path / "down", claim, down).reason == "reversed"

    def test_bytes_are_compared_exactly(self, tmp_path: Path) -> None:
        """No noise, no interval, and equal samples are no copies."""
        claim = a_claim(metric=MEMORY)
        found = verdict(tmp_path / "a", claim, a_session(claim, 2.0))
        assert (found.verdict, found.reason) == ("supported", "clear")
        assert (found.points[0].ratio, found.points[0].low, found.points[0].level) == (2.0, 2.0, 1.0)
        assert verdict(tmp_path / "b", claim, a_session(claim, 1.0)).reason == "negligible"

    def test_bytes_of_a_control_that_differs_are_refused(self, tmp_path: Path) -> None:
        """One byte is enough."""
        claim = a_claim(metric=MEMORY)

        def one_more(data: dict[str, Any]) -> None:
            for run in data["runs"]:
                run["samples"]["saved_for_backward"][0] += run["control"]

        found = verdict(tmp_path, claim, edited(a_session(claim, 2.0), one_more))
        assert (found.verdict, found.reason) == ("inconclusive", "control_failed")

    def test_swapping_the_arms_mirrors_the_verdict(self, tmp_path: Path) -> None:
        """What supports one sentence reverses its opposite, with the reciprocal ratio and interval."""
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

    def test_an_unrelated_claim_changes_nothing(self, tmp_path: Path) -> None:
        """A verdict belongs to its claim alone: no correction runs across claims."""
        other = a_claim("training.other", benchmark="another")
        alone = standing(write_tree(tmp_path / "a", [CLAIM], [a_session(CLAIM)]), CLAIM)
        sessions = [a_session(CLAIM), a_session(other, 0.5, seed=1)]
        assert standing(write_tree(tmp_path / "b", [CLAIM, other], sessions), CLAIM) == alone


class TestSweep:
    """A claim along an axis."""

    def test_points_share_the_error(self, tmp_path: Path) -> None:
        """The level of each is Bonferroni's, for every relation."""
        claim = a_claim(scope=a_sweep(1, 2, 4, 8))
        found = verdict(tmp_path / "a", claim, a_session(claim))
        assert found.verdict == "supported"
        assert [point.point for point in found.points] == [{"batch_size": size} for size in (1, 2, 4, 8)]
        assert [point.level for point in found.points] == pytest.approx([1 - 0.01 / 4] * 4)
        within = a_claim(scope=a_sweep(1, 2), relation="not_worse", margin=0.05)
        points = verdict(tmp_path / "b", within, a_session(within)).points
        assert [point.level for point in points] == pytest.approx([0.95] * 2)

    def test_a_claim_that_holds_here_and_not_there_flips(self, tmp_path: Path) -> None:
        """Whatever lies between."""
        claim = a_claim(scope=a_sweep(1, 2, 4))
        root = write_tree(tmp_path, [claim], [a_session(claim, at_batch({1: 0.7, 2: 1.02, 4: 1.5}))])
        found = standing(root, claim)
        assert found.status == "flips"
        assert found.verdict is not None
        words = [point.verdict for point in found.verdict.points]
        assert words == ["contradicted", "inconclusive", "supported"]

    @pytest.mark.parametrize("other", [1.5, 0.7])
    def test_one_point_that_is_not_known_leaves_the_claim_open(self, tmp_path: Path, other: float) -> None:
        """The reason is that point's."""
        claim = a_claim(scope=a_sweep(1, 4))
        found = verdict(tmp_path, claim, a_session(claim, at_batch({1: other, 4: 1.02})))
        assert (found.verdict, found.reason) == ("inconclusive", "wide")

    def test_points_that_the_sentence_leaves_out_are_shown_and_not_counted(self, tmp_path: Path) -> None:
        """They are marked."""
        claim = a_claim(scope=a_sweep(1, 4, 8, holds_for="batch_size >= 4"))
        found = verdict(tmp_path, claim, a_session(claim, at_batch({1: 0.7, 4: 1.5, 8: 1.6})))
        assert (found.verdict, found.reason) == ("supported", "clear")
        assert [point.asserted for point in found.points] == [False, True, True]
        assert [point.verdict for point in found.points] == ["contradicted", "supported", "supported"]
        assert [point.level for point in found.points] == pytest.approx([1 - 0.01 / 3] * 3)

    def test_a_point_is_found_by_what_it_says(self, tmp_path: Path) -> None:
        """None where several fit, or none does."""
        claim = a_claim(scope=a_sweep(1, 4))
        found = standing(write_tree(tmp_path, [claim], [a_session(claim)]), claim)
        point = found.at({"batch_size": 4})
        assert point is not None
        assert point.point == {"batch_size": 4}
        assert found.at({}) is None
        assert found.at({"batch_size": 2}) is None
        assert found.at({"tokens": 4}) is None

    def test_rows_name_every_point(self, tmp_path: Path) -> None:
        """And one row says that nothing is known."""
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
    """Several sessions, several machines, and what has changed since."""

    @pytest.mark.parametrize(
        ("environment", "status"),
        [
            ({}, "disputed"),
            ({"versions": {"torch": "2.13.9+cpu"}}, "disputed"),
            ({"versions": {"torch": "2.12.0"}}, "contradicted"),
            ({"product": "Another Xeon"}, "contradicted"),
        ],
    )
    def test_two_sessions_that_disagree_on_alike_machines_are_a_dispute(
        self, tmp_path: Path, environment: dict[str, Any], status: str
    ) -> None:
        """On another product or another minor version of torch the newest session has the word."""
        old = on(a_session(CLAIM, 1.5, date="2026-11-19"), **environment)
        new = a_session(CLAIM, 0.7, date="2026-11-20")
        assert standing(write_tree(tmp_path, [CLAIM], [old, new]), CLAIM).status == status

    def test_a_negligible_effect_is_no_dispute(self, tmp_path: Path) -> None:
        """Only a reversed one is."""
        old, new = a_session(CLAIM, 1.5, date="2026-11-19"), a_session(CLAIM, 1.005, noise=0.002)
        found = standing(write_tree(tmp_path, [CLAIM], [old, new]), CLAIM)
        assert (found.status, found.reason) == ("contradicted", "negligible")

    def test_the_newest_session_counts_and_older_ones_are_kept(self, tmp_path: Path) -> None:
        """By its date, whatever the names of the files."""
        days = enumerate(("2026-11-18", "2026-12-01", "2026-11-30"))
        sessions = [a_session(CLAIM, 1.3 + i / 10, date=day) for i, day in days]
        found = standing(write_tree(tmp_path, [CLAIM], sessions), CLAIM)
        assert found.session is not None
        assert found.session.evidence.date == "2026-12-01"
        assert [session.evidence.date for session, _ in found.others] == ["2026-11-30", "2026-11-18"]

    def test_sessions_of_a_day_are_ordered_by_their_time(self, tmp_path: Path) -> None:
        """Whatever their names; one that does not say its time comes before those that do."""
        times = enumerate(("23:59:59", None, "00:00:00"))
        sessions = [a_session(CLAIM, 1.3 + i / 10, time=time) for i, time in times]
        found = standing(write_tree(tmp_path, [CLAIM], sessions), CLAIM)
        assert found.session is not None
        assert [s.head.time for s in (found.session, *(s for s, _ in found.others))] == ["23:59:59", "00:00:00", None]

    def test_a_changed_benchmark_makes_its_evidence_void(self, tmp_path: Path) -> None:
        """It is shown and no longer counts, and a changed comment is no change."""
        root = write_tree(tmp_path, [CLAIM], [a_session(CLAIM)])
        script = root / "checks/benchmarks/made_up.py"
        write(script, BENCHMARK.replace("# of any arm", "# whichever").replace("Two arms.", "A pair of arms."))
        assert standing(root, CLAIM).status == "supported"
        write(script, BENCHMARK.replace("1.0", "2.0"))
        found = standing(root, CLAIM)
        assert (found.status, found.reason, len(found.void)) == ("unmeasured", "its benchmark has changed", 1)

    def test_a_session_after_the_change_counts_beside_void_ones(self, tmp_path: Path) -> None:
        """The void one's disagreement is not heard."""
        changed = BENCHMARK.replace("1.0", "2.0")
        sessions = [a_session(CLAIM, 0.7, date="2026-12-01"), a_session(CLAIM, 1.5, syntax=changed)]
        root = write_tree(tmp_path, [CLAIM], sessions, benchmarks={"made_up": changed})
        found = standing(root, CLAIM)
        assert (found.status, len(found.void), found.others) == ("supported", 1, ())

    @pytest.mark.parametrize(("carries", "status"), [(True, "supported"), (False, "unmeasured")])
    def test_only_what_carries_over_speaks_for_hardware_that_was_not_measured(
        self,
        tmp_path: Path,
        carries: object,
        status: str,
    ) -> None:
        """Storage does, and a class of its own is not invented for it."""
        claim = a_claim(metric={**MEMORY, "carries_over": carries}, scope=_scope("cpu", "h200"))
        found = judge_all(load_clean(write_tree(tmp_path, [claim], [a_session(claim)])))
        assert found.status(claim, "h200") == found.status(claim, "elsewhere") == status
        assert found.of(claim, "h200").status == "unmeasured"

    def test_verdicts_are_per_class(self, tmp_path: Path) -> None:
        """A CPU's session says nothing of a GPU, and what is measured has the word over what carries over."""
        claim = a_claim(metric={**MEMORY, "carries_over": True}, scope=_scope("cpu", "h200"))
        gpu = on(a_session(claim, 0.7, hardware_class="h200"), **H200)
        found = judge_all(load_clean(write_tree(tmp_path, [claim], [a_session(claim), gpu])))
        assert [found.status(claim, name) for name in ("cpu", "h200")] == ["supported", "contradicted"]
        assert found.status(claim, "elsewhere") == "disputed"

    def test_a_session_without_the_claims_arms_metric_or_points_does_not_speak_for_it(self, tmp_path: Path) -> None:
        """It is as if it were not there."""
        others = [
            a_claim("training.arm", subject="cleverer"),
            a_claim("training.metric", metric={"name": "peak_allocated"}),
            a_claim("training.point", scope={**_scope("cpu"), "at": {"batch_size": 2}}),
            a_claim("training.benchmark", benchmark="another"),
        ]
        found = judge_all(load_clean(write_tree(tmp_path, [CLAIM, *others], [a_session(CLAIM)])))
        assert [found.status(claim, "cpu") for claim in (CLAIM, *others)] == ["supported"] + ["unmeasured"] * 4

    def test_the_made_up_machine_is_of_its_class_alone(self, tmp_path: Path) -> None:
        """Another instruction set, or thread, would make it another."""
        tree = load_clean(write_tree(tmp_path))
        assert [name for name, known in tree.classes.items() if known.holds(MACHINE)] == ["cpu"]
        amx = on(a_session(CLAIM), instruction_sets=["avx512_bf16", "amx_bf16"]).environment
        assert not any(known.holds(amx) for known in tree.classes.values())


def _scope(*hardware: str) -> dict[str, Any]:
    return {"fixed": {}, "hardware": list(hardware)}

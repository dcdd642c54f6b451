"""A/A sessions: the harness's errors, and the smallest effect that it would have detected."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from factories import a_claim, a_session, edited, load_clean, write_tree
from headroom.maths.statistics import error_rate_bound
from headroom.records import Evidence, MeasuredClaim
from headroom.site.claims import harness_page
from headroom.site.site_data import SiteData
from headroom.verdicts import aa_tests
from headroom.verdicts.aa_tests import Trial

CLAIM = a_claim("harness.same", method=None, subject="the same", blocks=10)


def sessions(count: int, **changes: Any) -> list[Evidence]:
    """Return A/A sessions with equal arms except for noise, one per day."""
    return [a_session(CLAIM, 1.0, blocks=10, seed=i, date=f"2026-11-{i + 1:02}", **changes) for i in range(count)]


def found(root: Path, evidence: list[Evidence], *claims: MeasuredClaim) -> tuple[Trial, ...]:
    """Write the sessions to files, and return the A/A trials read from them."""
    return aa_tests.trials(load_clean(write_tree(root, [CLAIM, *claims], evidence)), "cpu")


class TestTrials:
    def test_every_session_is_a_trial_in_chronological_order(self, tmp_path: Path) -> None:
        trials = found(tmp_path, sessions(7))
        assert [trial.session.head.date for trial in trials] == [f"2026-11-{day:02}" for day in range(1, 8)]
        assert not any(trial.error for trial in trials)

    @pytest.mark.parametrize("ratio", [1.2, 1 / 1.2])
    def test_a_difference_in_either_direction_is_an_error(self, tmp_path: Path, ratio: float) -> None:
        (trial,) = found(tmp_path, [a_session(CLAIM, ratio, blocks=10)])
        assert trial.error
        assert trial.control

    def test_a_difference_below_the_least_effect_is_not_an_error(self, tmp_path: Path) -> None:
        (trial,) = found(tmp_path, [a_session(CLAIM, 1.01, blocks=10, noise=0.0005)])
        assert trial.found.reason == "negligible"
        assert not trial.error

    def test_the_claims_least_effect_applies_in_both_directions(self, tmp_path: Path) -> None:
        lax = CLAIM.model_copy(update={"min_effect": 0.33})
        evidence = [
            a_session(CLAIM, ratio, blocks=10, date=day)
            for ratio, day in ((1.2, "2026-11-01"), (1 / 1.2, "2026-11-02"))
        ]
        assert [each.error for each in aa_tests.trials(load_clean(write_tree(tmp_path, [lax], evidence)), "cpu")] == [
            False
        ] * 2

    def test_other_topics_and_hardware_classes_give_no_trials(self, tmp_path: Path) -> None:
        other = a_claim("training.other", benchmark="another", blocks=10)
        assert found(tmp_path, [a_session(other, blocks=10)], other) == ()

    def test_a_trial_records_whether_the_machine_was_busy(self, tmp_path: Path) -> None:
        def disturbed(data: dict[str, Any]) -> None:
            for run in data["runs"]:
                run["others_cpu"] = 0.5

        quiet, busy = found(tmp_path, [*sessions(1), edited(sessions(2)[1], disturbed)])
        assert (quiet.busy, busy.busy) == (False, True)


class TestDetectable:
    def test_the_detectable_effect_is_the_one_that_four_of_five_sessions_find(self, tmp_path: Path) -> None:
        trials = found(tmp_path, sessions(10))
        (short, longer) = aa_tests.detectable(trials)
        needed = sorted(1.02 / trial.found.low - 1 for trial in trials)
        assert short.effect == pytest.approx(needed[7])
        assert (short.blocks, short.sessions, longer.blocks, longer.sessions) == (10, 10, 20, 5)
        assert longer.effect < short.effect
        assert short.minutes == pytest.approx(trials[0].seconds / 60)
        assert longer.minutes == pytest.approx(2 * short.minutes)

    def test_four_sessions_give_no_detectable_effect(self, tmp_path: Path) -> None:
        assert list(aa_tests.detectable(found(tmp_path, sessions(4)))) == []


class TestHarnessShare:
    def test_the_share_is_the_time_outside_the_benchmark(self, tmp_path: Path) -> None:
        def clocked(data: dict[str, Any]) -> None:
            for run in data["runs"]:
                run["benchmark_seconds"] = 0.9

        tree = load_clean(write_tree(tmp_path, [CLAIM], [edited(sessions(1)[0], clocked)]))
        assert aa_tests.harness_shares(tree, "cpu") == {CLAIM.benchmark: pytest.approx(1 - 30 * 0.9 / 59)}
        assert aa_tests.harness_shares(tree, "h200") == {}

    def test_only_sessions_of_the_newest_harness_and_its_equivalents_count(self, tmp_path: Path) -> None:
        def measured(harness: str, time: str, seconds: float) -> Callable[[dict[str, Any]], None]:
            def change(data: dict[str, Any]) -> None:
                data["harness"], data["time"] = harness, time
                for run in data["runs"]:
                    run["benchmark_seconds"] = seconds

            return change

        changes = measured("z", "10:00:00", 0.5), measured("a", "11:00:00", 0.8), measured("a", "11:30:00", 0.9)
        made = [edited(session, change) for session, change in zip(sessions(3), changes, strict=True)]
        tree = load_clean(write_tree(tmp_path, [CLAIM], made))
        assert aa_tests.harness_shares(tree, "cpu") == {CLAIM.benchmark: pytest.approx(1 - 30 * 0.85 / 59)}
        declared = [{"harness": ["a", "z"], "reason": "A module was renamed.", "proof": tree.sessions[0].path}]
        path = tree.root / "checks/facts/harness-versions.yml"
        path.write_text(json.dumps({"equivalent": declared}), encoding="utf-8")
        mean = (0.5 + 0.8 + 0.9) / 3
        equal = aa_tests.harness_shares(load_clean(tree.root), "cpu")
        assert equal == {CLAIM.benchmark: pytest.approx(1 - 30 * mean / 59)}

    def test_sessions_without_recorded_benchmark_time_are_left_out(self, tmp_path: Path) -> None:
        tree = load_clean(write_tree(tmp_path, [CLAIM], sessions(1)))
        assert aa_tests.harness_shares(tree, "cpu") == {}


@pytest.mark.parametrize(("count", "of", "bound"), [(0, 59, 0.0495), (0, 1, 0.95), (1, 1, 1.0), (2, 124, 0.0499)])
def test_the_error_rate_bound_is_exact(count: int, of: int, bound: float) -> None:
    """Compare with the closed form for zero errors, and with a printed table otherwise."""
    assert error_rate_bound(count, of) == pytest.approx(bound, abs=1e-4)
    if count == 0:
        assert error_rate_bound(count, of) == pytest.approx(1 - math.exp(math.log(0.05) / of), abs=1e-6)


class TestPage:
    def test_the_page_counts_every_session_and_draws_its_interval(self, tmp_path: Path) -> None:
        site = SiteData.load(write_tree(tmp_path, [CLAIM], sessions(7)))
        page = harness_page.render(site)
        assert "- Sessions: 7, of 10 blocks" in page
        assert "in either direction: **0**; so at most 34.8\u00a0% of such sessions do" in page
        assert page.count('<line class="whisker"') == 7
        assert page.count("[raw data](") == 7
        assert "| 10 | 1.0 |" in page

    def test_the_page_says_that_there_are_no_sessions(self, tmp_path: Path) -> None:
        assert "No such session has been measured yet." in harness_page.render(SiteData.load(write_tree(tmp_path)))

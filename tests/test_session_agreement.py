"""Compare a new session with the registry's: their agreement, and the differences of their machines."""

from pathlib import Path
from typing import Any

import pytest

from factories import H200, a_claim, a_session, a_sweep, edited, load_clean, write_tree
from headroom.execution.hardware_class_draft import NO_CLASS
from headroom.verdicts.reproduction import Reproduction, reproduction
from headroom.verdicts.session_diff import differences, unknown

CLAIM = a_claim(blocks=10)
REGISTERED = a_session(CLAIM, 1.5, blocks=10)
NEW = "checks/evidence/made_up/cpu-2026-11-21-000000000000.json"


def reproduced(tmp_path: Path, ratio: float, noise: float) -> Reproduction:
    """Compare a new session of this ratio, a day later on the same machine, with the registry's."""
    root = write_tree(tmp_path / "tree", [CLAIM], [REGISTERED])
    evidence = a_session(CLAIM, ratio, blocks=10, noise=noise, seed=8, date="2026-11-21")
    return reproduction(load_clean(root), CLAIM, evidence, NEW)


class TestAgreement:
    @pytest.mark.parametrize(
        ("ratio", "agreement", "after"),
        [
            (1.5, "agree", "supported"),
            (2.5, "apart", "supported"),
            (1.0, "differ", "contradicted"),
            (0.5, "opposite", "disputed"),
        ],
    )
    def test_agreement_follows_from_verdicts_and_intervals(
        self, tmp_path: Path, ratio: float, agreement: str, after: str
    ) -> None:
        found = reproduced(tmp_path, ratio, noise=0.004)
        assert ([each.agreement for each in found.compared], found.before, found.after) == (
            [agreement],
            "supported",
            after,
        )

    def test_an_inconclusive_session_neither_agrees_nor_disagrees(self, tmp_path: Path) -> None:
        found = reproduced(tmp_path, 1.1, noise=0.4)
        assert found.verdict.verdict == "inconclusive"
        assert found.compared[0].agreement == "undecided"

    def test_agreement_is_that_of_the_worst_asserted_point(self, tmp_path: Path) -> None:
        scope = {**a_sweep(1, 4), "holds_for": "batch_size >= 4"}
        for worst, part in (("opposite", a_sweep(1, 4)), ("agree", scope)):
            claim = a_claim(blocks=10, scope=part)
            root = write_tree(tmp_path / worst, [claim], [a_session(claim, 1.5, blocks=10)])
            new = a_session(claim, lambda at: 0.5 if at["batch_size"] == 1 else 1.5, blocks=10, seed=8)
            (found,) = reproduction(load_clean(root), claim, new, NEW).compared
            assert found.agreement == worst

    def test_a_session_without_a_class_is_compared_with_every_class(self, tmp_path: Path) -> None:
        gpu = edited(REGISTERED, lambda data: data.update(hardware_class="h200"))
        gpu = edited(gpu, lambda data: data["environment"].update(H200))
        root = write_tree(tmp_path / "tree", [CLAIM], [REGISTERED, gpu])
        new = edited(a_session(CLAIM, blocks=10, seed=8), lambda data: data.update(hardware_class=NO_CLASS))
        found = reproduction(load_clean(root), CLAIM, new, NEW)
        assert [each.hardware_class for each in found.compared] == ["cpu", "h200"]
        assert found.hardware_class is None
        own = reproduction(load_clean(root), CLAIM, a_session(CLAIM, blocks=10, seed=8), NEW)
        assert [each.hardware_class for each in own.compared] == ["cpu"]

    def test_a_session_of_a_changed_benchmark_is_not_compared(self, tmp_path: Path) -> None:
        root = write_tree(tmp_path / "tree", [CLAIM], [a_session(CLAIM, blocks=10, syntax="ARMS = ()")])
        found = reproduction(load_clean(root), CLAIM, REGISTERED, NEW)
        assert (found.compared, found.before, found.after) == ((), "unmeasured", "supported")


class TestDifferences:
    def rows(self, **changes: Any) -> dict[str, tuple[str, str]]:
        """Return the differences after changing a session's environment."""
        new = edited(REGISTERED, lambda data: data["environment"].update(changes))
        return {each.what: (each.here, each.there) for each in differences(new, REGISTERED)}

    def test_a_session_does_not_differ_from_itself(self) -> None:
        assert self.rows() == {}

    @pytest.mark.parametrize(
        ("change", "row"),
        [
            ({"product": "Other"}, {"product": ("Other", "Made-up Xeon")}),
            ({"threads": 2}, {"threads": ("2", "1")}),
            ({"memory_bytes": 2**34}, {"memory": ("16.0 GiB", "128.0 GiB")}),
            ({"instruction_sets": []}, {"instruction sets": ("none", "avx2, avx512_bf16")}),
            ({"virtualised": None}, {"virtualised": ("unknown", "yes")}),
            ({"governor": "performance"}, {"governor": ("performance", "unknown")}),
            ({"load_before": 3.25}, {"load before": ("3.2", "0.1")}),
            ({"versions": {"python": "3.11.7"}}, {"torch": ("not installed", "2.13.0")}),
            (
                {"device": "cuda", "power_limit_w": None, "driver": "580"},
                {"device": ("cuda", "cpu"), "power limit": ("unknown", "none"), "driver": ("580", "none")},
            ),
        ],
    )
    def test_differences_are_formatted_for_readers(
        self, change: dict[str, Any], row: dict[str, tuple[str, str]]
    ) -> None:
        """An unknown value is `unknown`, and what a CPU does not have is `none`."""
        assert self.rows(**change) == row

    def test_fields_unknown_in_both_are_listed(self) -> None:
        other = edited(REGISTERED, lambda data: data["environment"].update(unknown=["temperature", "turbo"]))
        assert unknown(REGISTERED, other) == ("temperature",)

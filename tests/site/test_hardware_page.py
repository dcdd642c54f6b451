"""The page of the hardware classes, and what bounds the figures of a claim."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factories import a_claim, a_session, write_tree
from headroom.records import Evidence, MeasuredClaim
from headroom.site import exports
from headroom.site.claims import claim_page, hardware_page, noise_and_roofline
from headroom.site.site_data import SiteData
from headroom.verdicts.noise_floor import LEAST, Floor
from test_noise_floor import CLAIM, earlier, off_by
from test_roofline import a_machine, keep

FLOOR = "Noise floor of this class"


def site(root: Path, sessions: Iterable[Evidence], claim: MeasuredClaim = CLAIM, *machines: Any) -> SiteData:
    """A site with a claim, its sessions, and what machines can do."""
    write_tree(root, [claim], sessions)
    for machine in machines:
        keep(root, machine)
    return SiteData.load(root)


def said(found: SiteData, claim: MeasuredClaim = CLAIM) -> list[str]:
    """What the claim was held to in its newest session."""
    session = found.board.of(claim, "cpu").session
    assert session
    return list(noise_and_roofline.of_session(found, claim, session))


@pytest.mark.parametrize(
    ("floor", "text"),
    [
        (Floor(0.0077, 3, 2), "0.77\u00a0% over 3 control comparisons of 2 sessions; claims are held to it from 20 on"),
        (Floor(0.0077, 1, 1), "0.77\u00a0% over 1 control comparison of 1 session; claims are held to it from 20 on"),
        (Floor(0.1, 20, 9), "10.00\u00a0% over 20 control comparisons of 9 sessions"),
        (None, "not known yet, since no session has compared a baseline with itself in times"),
    ],
)
def test_a_floor_says_what_it_stands_on(floor: Floor | None, text: str) -> None:
    """And whether that is enough."""
    assert noise_and_roofline.floor(floor) == f"{FLOOR}: {text}"


class TestClaim:
    """What bounds a claim's figures, on its page."""

    def test_a_time_has_a_floor_and_a_roofline(self, tmp_path: Path) -> None:
        """The peak of the class, where no machine was measured."""
        found = site(tmp_path, [off_by(1.01)])
        assert said(found) == [
            f"{FLOOR}: 1.00\u00a0% over 1 control comparison of 1 session; claims are held to it from 20 on",
            "Roofline: products at more than 1.00\u00a0TFLOP/s are not believed (made up)",
        ]

    def test_the_bound_that_was_used_is_shown(self, tmp_path: Path) -> None:
        """With the record that it comes from."""
        found = site(tmp_path, [a_session(CLAIM)], CLAIM, a_machine())
        (path,) = found.tree.machines
        source = f"1.25 times the best bf16 matmul rate measured on such a machine, {path}"
        assert said(found)[-1] == f"Roofline: products at more than 0.500\u00a0TFLOP/s are not believed ({source})"

    @pytest.mark.parametrize(("least", "told"), [(0.02, True), (0.06, False)])
    def test_a_floor_above_the_least_effect_is_told(self, tmp_path: Path, least: float, told: bool) -> None:  # noqa: FBT001
        """Since it is what counts then."""
        claim = a_claim(min_effect=least)
        found = said(site(tmp_path, [a_session(claim), *earlier([1.05] * LEAST)], claim), claim)
        line = (
            "By the sessions before that day it was 5.00\u00a0%, more than the least effect that this claim names, "
            f"{least:.2%}: only a difference beyond it counts"
        ).replace("0%:", "0\u00a0%:")
        assert (line in found) == told
        assert len(found) == 2 + told

    def test_bytes_have_none_of_these(self, tmp_path: Path) -> None:
        """No noise, and no rate."""
        claim = a_claim(metric={"name": "saved_for_backward"})
        found = site(tmp_path, [a_session(claim)], claim)
        assert said(found, claim) == []
        assert "What bounds them" not in claim_page.render(claim, found)

    def test_the_page_shows_them(self, tmp_path: Path) -> None:
        """Beside the statistics."""
        page = claim_page.render(CLAIM, site(tmp_path, [off_by(1.01)]))
        assert (
            page.index("## Environment and statistics")
            < page.index("What bounds them:")
            < page.index(claim_page.text(FLOOR))
        )


class TestPage:
    """claims/hardware.md."""

    def test_it_shows_every_class(self, tmp_path: Path) -> None:
        """What it is, what was measured on it, how noisy it is and what bounds it."""
        page = exports.pages(site(tmp_path, [off_by(1.01)]))[hardware_page.PAGE]
        for text in (
            "What it is: a CPU, one thread",
            "What a machine must show: instruction_sets avx512_bf16; without amx_bf16; threads 1",
            "Sessions: 1, the newest of 20\u00a0November\u00a02026",
            f"{FLOOR}: 1.00\u00a0% over 1 control comparison of 1 session",
            "What a machine must show: product NVIDIA H200; power_limit_w 700.0",
            "Sessions: 0",
            f"{FLOOR}: not known yet",
            "Roofline: products at more than 1,000\u00a0TFLOP/s are not believed (made up)",
        ):
            assert claim_page.text(text) in page

    def test_it_shows_what_its_machines_can_do(self, tmp_path: Path) -> None:
        """The best and the median of each figure, and where the raw data is, which the site publishes."""
        found = site(tmp_path, [], CLAIM, a_machine(), a_machine(throttled=["heat"], others_cpu=None))
        page = exports.pages(found)[hardware_page.PAGE]
        for row in (
            ("product, bf16", "0.400\u00a0TFLOP/s", "0.360\u00a0TFLOP/s", "matrices"),
            ("memory, copy", "10.0 GB/s", "10.0 GB/s", "arrays"),
            ("call of an operation", "1.00 µs", "1.00 µs", "calls"),
        ):
            assert f"| {' | '.join(map(claim_page.text, row))} |" in page
        assert f"| {claim_page.text('product, tf32')} | – | – | {claim_page.text('a format of CUDA devices')} |" in page
        assert f"{claim_page.text('an unknown share')} of the cores{claim_page.text(', slowed down by heat')}" in page
        for path in found.tree.machines:
            published = path.removeprefix("checks/")
            assert f"[raw data](../{published})" in page
            assert exports.data_files(found)[published] == found.tree.root / path

    def test_the_index_leads_to_it(self, tmp_path: Path) -> None:
        """Nothing else does."""
        assert "(hardware.md)" in exports.index(site(tmp_path, []))


def test_claims_json_holds_the_floors(tmp_path: Path) -> None:
    """By class, with what they stand on."""
    found = json.loads(exports.claims_json(site(tmp_path, [off_by(1.01)], CLAIM, a_machine())))["hardware"]
    floor = found["cpu"]["noise_floor"]
    assert floor["share"] == pytest.approx(0.01)
    assert {**floor, "share": 0} == {"share": 0, "comparisons": 1, "sessions": 1, "counts": False}
    assert (found["h200"]["noise_floor"], found["h200"]["peak_flops"]) == (None, 1e15)
    assert len(found["cpu"]["machines"]) == 1


def test_a_session_of_a_class_that_is_gone_is_bounded_by_nothing(tmp_path: Path) -> None:
    """The rule `references` names it."""
    found = site(tmp_path, [a_session(CLAIM)])
    (session,) = found.tree.sessions
    assert (
        list(noise_and_roofline.of_session(replace(found, tree=replace(found.tree, classes={})), CLAIM, session)) == []
    )

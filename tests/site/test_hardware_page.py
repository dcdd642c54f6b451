"""The page of hardware classes, and the noise floor and roofline on claim pages."""

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
    """Return a site with a claim, its sessions and machine records."""
    write_tree(root, [claim], sessions)
    for machine in machines:
        keep(root, machine)
    return SiteData.load(root)


def sentences(found: SiteData, claim: MeasuredClaim = CLAIM) -> list[str]:
    """Return the noise floor and roofline sentences of the claim's newest session."""
    session = found.board.of(claim, "cpu").session
    assert session
    return list(noise_and_roofline.of_session(found, claim, session))


@pytest.mark.parametrize(
    ("floor", "text"),
    [
        (
            Floor(0.0077, 3, 2),
            "0.77\u00a0% over 3 control comparisons of 2 sessions; it limits claims from 20 comparisons on",
        ),
        (
            Floor(0.0077, 1, 1),
            "0.77\u00a0% over 1 control comparison of 1 session; it limits claims from 20 comparisons on",
        ),
        (Floor(0.1, 20, 9), "10.00\u00a0% over 20 control comparisons of 9 sessions"),
        (None, "not known yet, because no session has timed a baseline against itself"),
    ],
)
def test_the_noise_floor_names_its_comparisons_and_sessions(floor: Floor | None, text: str) -> None:
    assert noise_and_roofline.floor(floor) == f"{FLOOR}: {text}"


class TestClaim:
    """The noise floor and roofline on a claim's page."""

    def test_a_time_has_a_floor_and_a_roofline(self, tmp_path: Path) -> None:
        """Without a machine record the class's peak is the roofline."""
        found = site(tmp_path, [off_by(1.01)])
        assert sentences(found) == [
            f"{FLOOR}: 1.00\u00a0% over 1 control comparison of 1 session; it limits claims from 20 comparisons on",
            "Roofline: 1.00\u00a0TFLOP/s; faster sessions do not count (made up)",
        ]

    def test_the_measured_roofline_names_its_record(self, tmp_path: Path) -> None:
        """Check the sentence."""
        found = site(tmp_path, [a_session(CLAIM)], CLAIM, a_machine())
        (path,) = found.tree.machines
        source = f"1.25 times the best bf16 matmul rate measured on such a machine, {path}"
        assert sentences(found)[-1] == f"Roofline: 0.500\u00a0TFLOP/s; faster sessions do not count ({source})"

    @pytest.mark.parametrize(("least", "reported"), [(0.02, True), (0.06, False)])
    def test_a_floor_above_the_least_effect_is_reported(self, tmp_path: Path, least: float, reported: bool) -> None:  # noqa: FBT001
        """Then the floor decides which differences count."""
        claim = a_claim(min_effect=least)
        found = sentences(site(tmp_path, [a_session(claim), *earlier([1.05] * LEAST)], claim), claim)
        line = (
            "By the sessions before that day it was 5.00\u00a0%, more than this claim's least effect, "
            f"{least:.2%}: only a difference beyond it counts"
        ).replace("0%:", "0\u00a0%:")
        assert (line in found) == reported
        assert len(found) == 2 + reported

    def test_bytes_have_neither_floor_nor_roofline(self, tmp_path: Path) -> None:
        """Byte counts have no noise and no rate."""
        claim = a_claim(metric={"name": "saved_for_backward"})
        found = site(tmp_path, [a_session(claim)], claim)
        assert sentences(found, claim) == []
        assert "What limits these figures" not in claim_page.render(claim, found)

    def test_the_page_shows_floor_and_roofline_with_the_statistics(self, tmp_path: Path) -> None:
        """Check their position."""
        page = claim_page.render(CLAIM, site(tmp_path, [off_by(1.01)]))
        assert (
            page.index("## Environment and statistics")
            < page.index("What limits these figures:")
            < page.index(claim_page.text(FLOOR))
        )


class TestPage:
    """claims/hardware.md."""

    def test_it_shows_every_class(self, tmp_path: Path) -> None:
        """Check definition, sessions, noise floor and roofline."""
        page = exports.pages(site(tmp_path, [off_by(1.01)]))[hardware_page.PAGE]
        for text in (
            "What it is: a CPU, one thread",
            "Required of a machine: instruction_sets avx512_bf16; without amx_bf16; threads 1",
            "Sessions: 1, the newest of 20\u00a0November\u00a02026",
            f"{FLOOR}: 1.00\u00a0% over 1 control comparison of 1 session",
            "Required of a machine: product NVIDIA H200; power_limit_w 700.0",
            "Sessions: 0",
            f"{FLOOR}: not known yet",
            "Roofline: 1,000\u00a0TFLOP/s; faster sessions do not count (made up)",
        ):
            assert claim_page.text(text) in page

    def test_it_shows_the_figures_of_machine_records(self, tmp_path: Path) -> None:
        """Check best and median values and the link to the published raw data."""
        found = site(tmp_path, [], CLAIM, a_machine(), a_machine(throttled=["heat"], others_cpu=None))
        page = exports.pages(found)[hardware_page.PAGE]
        for row in (
            ("matmul, bf16", "0.400\u00a0TFLOP/s", "0.360\u00a0TFLOP/s", "matrices"),
            ("memory, copy", "10.0 GB/s", "10.0 GB/s", "arrays"),
            ("operation call", "1.00 µs", "1.00 µs", "calls"),
        ):
            assert f"| {' | '.join(map(claim_page.text, row))} |" in page
        assert f"| {claim_page.text('matmul, tf32')} | – | – | {claim_page.text('a format of CUDA devices')} |" in page
        assert f"{claim_page.text('an unknown share')} of the cores{claim_page.text(', slowed down by heat')}" in page
        for path in found.tree.machines:
            published = path.removeprefix("checks/")
            assert f"[raw data](../{published})" in page
            assert exports.data_files(found)[published] == found.tree.root / path

    def test_the_index_links_to_it(self, tmp_path: Path) -> None:
        """It is the only link."""
        assert "(hardware.md)" in exports.index(site(tmp_path, []))


def test_claims_json_has_the_noise_floors(tmp_path: Path) -> None:
    found = json.loads(exports.claims_json(site(tmp_path, [off_by(1.01)], CLAIM, a_machine())))["hardware"]
    floor = found["cpu"]["noise_floor"]
    assert floor["share"] == pytest.approx(0.01)
    assert {**floor, "share": 0} == {"share": 0, "comparisons": 1, "sessions": 1, "counts": False}
    assert (found["h200"]["noise_floor"], found["h200"]["peak_flops"]) == (None, 1e15)
    assert len(found["cpu"]["machines"]) == 1


def test_a_session_of_a_deleted_class_has_no_floor_or_roofline(tmp_path: Path) -> None:
    """The rule `references` reports it."""
    found = site(tmp_path, [a_session(CLAIM)])
    (session,) = found.tree.sessions
    assert (
        list(noise_and_roofline.of_session(replace(found, tree=replace(found.tree, classes={})), CLAIM, session)) == []
    )

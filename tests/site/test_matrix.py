"""The table of all methods and its data."""

import csv
import io
import json
import shutil
from collections import Counter
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml

from headroom.records.methods import Method
from headroom.site import exports
from headroom.site.matrix import matrix_data, matrix_page, matrix_rows
from headroom.site.site_data import SiteData

ROOT, CLEAN = Path(__file__).parents[2], Path(__file__).parents[1] / "rule_cases/clean"


@pytest.fixture(scope="module")
def clean() -> SiteData:
    """Return the clean tree of the rule cases."""
    return SiteData.load(CLEAN)


@pytest.fixture(scope="module")
def real() -> SiteData:
    """Return the repository's own tree."""
    return SiteData.load(ROOT)


def with_method(site: SiteData, **changes: Any) -> SiteData:
    """Return the small tree with one method that lists its claims."""
    record = {
        "id": "cleverness",
        "name": "Cleverness",
        "symptoms": ("it is slow",),
        "section": "training/guide.md#a-guide",
        "claims": {"speed": ("training.time", "training.cited"), "memory": ("training.memory",)},
        **changes,
    }
    method = Method.model_validate(record)
    return replace(site, tree=replace(site.tree, methods={method.id: method}))


def cells(site: SiteData) -> list[list[str]]:
    """Return the cells of the page's table."""
    lines = [line for line in matrix_page.render(site).splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def row(site: SiteData, hardware: str) -> list[str]:
    """Return the only row with this class, or with "" the row of results not measured here."""
    (found,) = (each for each in cells(site) if f'data-on="{hardware}"' in each[1])
    return [unescape(cell).replace("\u00a0", " ") for cell in found]


class TestRows:
    @pytest.mark.parametrize("name", ["clean", "real"])
    def test_every_method_has_every_class_once(self, name: str, request: pytest.FixtureRequest) -> None:
        """Classes may share rows."""
        site: SiteData = request.getfixturevalue(name)
        seen = Counter((row.method.id, each) for row in matrix_rows.rows(site) for each in row.classes)
        assert seen == Counter((method, each) for method in site.tree.methods for each in site.tree.classes)

    def test_classes_share_a_row_only_with_equal_results(self, site: SiteData) -> None:
        """Classes without any result share a row, too."""
        found = list(matrix_rows.rows(with_method(site, claims={"speed": ("training.time",)})))
        assert [each.classes for each in found] == [("cpu",), ("h200",)]
        found = list(matrix_rows.rows(with_method(site, claims={})))
        assert [each.classes for each in found] == [("cpu", "h200")]

    def test_two_measured_classes_never_share_a_row(self, site: SiteData) -> None:
        """Their badges are equal, but their figures differ."""
        (cpu,) = (found for name, found in site.board.standings["training.time"].items() if name == "cpu")
        assert cpu.verdict is not None
        (point,) = cpu.verdict.points
        faster = replace(cpu, verdict=replace(cpu.verdict, points=(replace(point, ratio=2 * point.ratio),)))
        board = replace(site.board, standings={**site.board.standings, "training.time": {"cpu": cpu, "h200": faster}})
        found = list(matrix_rows.rows(with_method(replace(site, board=board), claims={"speed": ("training.time",)})))
        shown = [(row.classes, outcome.word, outcome.ratio) for row in found for outcome in row.known["speed"]]
        assert shown == [(("cpu",), "measured", point.ratio), (("h200",), "measured", 2 * point.ratio)]

    def test_retired_claims_are_left_out(self, clean: SiteData) -> None:
        """Readers must not decide by them."""
        claims = [each.claim for row in matrix_rows.rows(clean) for found in row.known.values() for each in found]
        assert claims
        assert not [claim.id for claim in claims if claim.retired]


class TestPage:
    def test_a_measured_cell_has_figures_ratio_range_conditions_and_verdict(self, site: SiteData) -> None:
        """The cell links to the claim, the method's name to its section."""
        found = row(with_method(site), "cpu")
        assert "[Cleverness](training/guide.md#a-guide)" in found[0]
        assert "(claims/training/time.md)" in found[2]
        assert "[99.2 ms → 80.2 ms]" in found[2]
        assert "**1.24×** 1.23 to 1.26" in found[2]
        assert "step time, against plain" in found[2]
        assert '<span class="badge badge-supported">measured</span>' in found[2]
        assert found[4] == "– not measured"

    def test_bytes_carry_over_with_their_class_and_times_do_not(self, site: SiteData) -> None:
        """Check a GPU's row with bytes counted on a CPU."""
        found = row(with_method(site), "h200")
        assert found[2] == "– not measured"
        assert "counted on a CPU</span>" in found[3]

    def test_reported_results_have_a_row_without_a_class(self, site: SiteData) -> None:
        """The row names the source's hardware."""
        found = row(with_method(site), "")
        assert "reported or computed" in found[1]
        assert "8 A100" in found[2]
        assert "badge-cited" in found[2]
        assert found[3] == "– nothing reported"
        assert "cited" not in "".join(row(with_method(site), "cpu"))

    def test_a_costs_arms_are_swapped(self, site: SiteData) -> None:
        """The claim's baseline is the method; the cell goes from without to with it."""
        gain = row(with_method(site), "cpu")[2]
        cost = row(with_method(site, costs=("training.time",)), "cpu")[2]
        assert "[99.2 ms → 80.2 ms]" in gain
        assert "[80.2 ms → 99.2 ms]" in cost
        assert "**0.804×** 0.797 to 0.812" in cost
        assert "against clever" in cost
        assert ("data-gains" in gain, "data-gains" in cost) == (True, False)

    @pytest.mark.parametrize(
        ("claim", "gains"), [("time", "yes"), ("part", "yes"), ("slower", ""), ("noisy", ""), ("disputed", "")]
    )
    def test_only_supported_and_flipping_claims_are_gains(self, site: SiteData, claim: str, gains: str) -> None:
        """The filter for gains must not find contradicted, open or disputed claims."""
        found = row(with_method(site, claims={"speed": (f"training.{claim}",)}), "cpu")
        assert ("data-gains" in found[2]) == bool(gains)

    def test_a_row_has_the_aliases_of_its_own_variant(self, site: SiteData) -> None:
        """Aliases of other variants are left out; aliases of no variant stay."""
        claim = site.tree.claims["training.slower"].model_copy(update={"subject": "adafactor"})
        tree = replace(site.tree, claims={**site.tree.claims, claim.id: claim})
        listed = {"memory": ("training.time", "training.slower")}
        varied = with_method(replace(site, tree=tree), aliases=("Adafactor", "clever=True", "--flag"), claims=listed)
        assert 'data-names="cleverness clever=True --flag"' in row(varied, "cpu")[0]
        assert 'data-names="cleverness Adafactor clever=True --flag"' in row(varied, "h200")[0]

    def test_a_proven_result_links_its_proof_and_a_gap_has_a_dash(self, clean: SiteData) -> None:
        """A gap is never an empty cell."""
        found = cells(clean)
        assert all(cell for each in found for cell in each)
        assert next(each[4] for each in found if "clever method" in each[0]).startswith(
            '<span data-gains="">[the same]'
        )
        assert "– not measured" in [each[4] for each in found]

    def test_no_text_of_a_record_becomes_markup(self, site: SiteData) -> None:
        """Check names, aliases in attributes, and arms."""
        hostile = '"><script>alert(1)</script> | [x](javascript:alert(2)) `'
        text = matrix_page.render(with_method(site, name=hostile, aliases=(hostile,)))
        assert "<script" not in text
        assert "](javascript" not in text
        assert {len(each) for each in cells(with_method(site, name=hostile))} == {5}

    def test_the_page_is_published_with_csv_and_json(self, site: SiteData) -> None:
        """Check all three files."""
        assert exports.pages(site)[matrix_page.PAGE] == matrix_page.render(site)
        assert {matrix_page.CSV, matrix_page.JSON} <= set(exports.json_files(site))


def test_a_new_method_or_claim_appears_by_its_record_alone(tmp_path: Path) -> None:
    root = Path(shutil.copytree(CLEAN, tmp_path / "tree"))
    before = SiteData.load(root)
    method = {"id": "new", "name": "New", "symptoms": ["x"], "section": "training/gpu.md#how"}
    speed = {"speed": ["training.clever.step-time", "training.newer"]}
    (root / "checks/methods/new.yml").write_text(yaml.safe_dump({**method, "claims": speed}), "utf-8")
    claim = (root / "checks/registry/training/clever-step-time.yml").read_text("utf-8")
    newer = claim.replace("training.clever.step-time", "training.newer").replace("method: clever", "method: new")
    (root / "checks/registry/training/newer.yml").write_text(newer, "utf-8")
    after = SiteData.load(root)
    assert "[New]" not in matrix_page.render(before)
    assert "[New](training/gpu.md#how)" in matrix_page.render(after)
    records = [each for each in matrix_data.records(after) if each["method"] == "new" and each["hardware"] == "h200"]
    assert [each["claim"] for each in records if each["goal"] == "speed"] == [
        "training.clever.step-time",
        "training.newer",
    ]


class TestData:
    def test_json_and_csv_have_the_same_records_and_every_gap(self, clean: SiteData) -> None:
        """Expect a record per claim, and one per goal without a result."""
        records = json.loads(matrix_data.as_json(clean))["methods"]
        table = list(csv.DictReader(io.StringIO(matrix_data.as_csv(clean))))
        assert len(records) == len(table) == len(list(matrix_data.records(clean)))
        assert {each["status"] for each in records} >= {"supported", "unmeasured", "proven", "cited"}
        seen = {(each["method"], each["hardware"], each["goal"]) for each in records if each["hardware"]}
        assert len(seen) == len(clean.tree.methods) * len(clean.tree.classes) * 3
        assert [each["ratio"] and float(each["ratio"]) for each in table] == [
            each.get("ratio") or "" for each in records
        ]

    def test_no_csv_cell_is_a_formula(self, site: SiteData) -> None:
        """Spreadsheets run cells that start with an equals sign."""
        table = list(csv.DictReader(io.StringIO(matrix_data.as_csv(with_method(site, name="=1+1")))))
        assert {each["name"] for each in table} == {"'=1+1"}

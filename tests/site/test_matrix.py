"""The table of all methods: what it says is what the records say, and it needs nothing but them."""

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
    """The tree that uses everything."""
    return SiteData.load(CLEAN)


@pytest.fixture(scope="module")
def real() -> SiteData:
    """The repository's own tree."""
    return SiteData.load(ROOT)


def with_method(site: SiteData, **changes: Any) -> SiteData:
    """The small tree with one method that lists claims of it."""
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
    """The cells of the page's table."""
    lines = [line for line in matrix_page.render(site).splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def row(site: SiteData, hardware: str) -> list[str]:
    """The only row that names a hardware class, or with "" the row of what was not measured here."""
    (found,) = (each for each in cells(site) if f'data-on="{hardware}"' in each[1])
    return [unescape(cell).replace("\u00a0", " ") for cell in found]


class TestRows:
    @pytest.mark.parametrize("name", ["clean", "real"])
    def test_every_method_stands_on_every_class_once(self, name: str, request: pytest.FixtureRequest) -> None:
        """However the classes share rows."""
        site: SiteData = request.getfixturevalue(name)
        seen = Counter((row.method.id, each) for row in matrix_rows.rows(site) for each in row.classes)
        assert seen == Counter((method, each) for method in site.tree.methods for each in site.tree.classes)

    def test_classes_share_a_row_only_where_the_same_is_known_of_them(self, site: SiteData) -> None:
        """And where nothing is known of any, they do."""
        found = list(matrix_rows.rows(with_method(site, claims={"speed": ("training.time",)})))
        assert [each.classes for each in found] == [("cpu",), ("h200",)]
        found = list(matrix_rows.rows(with_method(site, claims={})))
        assert [each.classes for each in found] == [("cpu", "h200")]

    def test_two_classes_that_were_measured_never_share_a_row_of_figures(self, site: SiteData) -> None:
        """Their badges say the same, and their figures do not."""
        (cpu,) = (found for name, found in site.board.standings["training.time"].items() if name == "cpu")
        assert cpu.verdict is not None
        (point,) = cpu.verdict.points
        faster = replace(cpu, verdict=replace(cpu.verdict, points=(replace(point, ratio=2 * point.ratio),)))
        board = replace(site.board, standings={**site.board.standings, "training.time": {"cpu": cpu, "h200": faster}})
        found = list(matrix_rows.rows(with_method(replace(site, board=board), claims={"speed": ("training.time",)})))
        told = [(row.classes, outcome.word, outcome.ratio) for row in found for outcome in row.known["speed"]]
        assert told == [(("cpu",), "measured", point.ratio), (("h200",), "measured", 2 * point.ratio)]

    def test_what_is_retired_says_nothing(self, clean: SiteData) -> None:
        """Nobody is to decide by it."""
        told = [each.claim for row in matrix_rows.rows(clean) for found in row.known.values() for each in found]
        assert told
        assert not [claim.id for claim in told if claim.retired]


class TestPage:
    def test_a_measured_cell_says_figures_ratio_range_condition_and_verdict(self, site: SiteData) -> None:
        """And leads to the claim, as the method's name does to its section."""
        found = row(with_method(site), "cpu")
        assert "[Cleverness](training/guide.md#a-guide)" in found[0]
        assert "(claims/training/time.md)" in found[2]
        assert "[99.2 ms → 80.2 ms]" in found[2]
        assert "**1.24×** 1.23 to 1.26" in found[2]
        assert "step time, against plain" in found[2]
        assert '<span class="badge badge-supported">measured</span>' in found[2]
        assert found[4] == "– not measured"

    def test_what_carries_over_says_from_where_and_a_time_never_does(self, site: SiteData) -> None:
        """A GPU's row has bytes that a CPU counted, and no CPU's time."""
        found = row(with_method(site), "h200")
        assert found[2] == "– not measured"
        assert "counted on a CPU</span>" in found[3]

    def test_what_others_report_is_of_no_class(self, site: SiteData) -> None:
        """It stands in a row of its own, with the hardware that its source names."""
        found = row(with_method(site), "")
        assert "reported or computed" in found[1]
        assert "8 A100" in found[2]
        assert "badge-cited" in found[2]
        assert found[3] == "– nothing reported"
        assert "cited" not in "".join(row(with_method(site), "cpu"))

    def test_what_a_method_costs_is_turned_round(self, site: SiteData) -> None:
        """Its claim is measured with the method as the baseline; the cell goes from without to with it all the same."""
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
    def test_a_gain_is_a_verdict_and_no_figure(self, site: SiteData, claim: str, gains: str) -> None:
        """What is contradicted, open or disputed is not found by who wants a gain."""
        found = row(with_method(site, claims={"speed": (f"training.{claim}",)}), "cpu")
        assert ("data-gains" in found[2]) == bool(gains)

    def test_a_row_has_the_names_of_the_variant_that_it_shows(self, site: SiteData) -> None:
        """The name of another variant finds no row whose figures are not its own; the name of a flag finds all."""
        claim = site.tree.claims["training.slower"].model_copy(update={"subject": "adafactor"})
        tree = replace(site.tree, claims={**site.tree.claims, claim.id: claim})
        listed = {"memory": ("training.time", "training.slower")}
        varied = with_method(replace(site, tree=tree), aliases=("Adafactor", "clever=True", "--flag"), claims=listed)
        assert 'data-names="cleverness clever=True --flag"' in row(varied, "cpu")[0]
        assert 'data-names="cleverness Adafactor clever=True --flag"' in row(varied, "h200")[0]

    def test_a_proven_result_names_its_proof_and_nothing_known_says_so(self, clean: SiteData) -> None:
        """A gap is a dash and two words, never an empty cell."""
        found = cells(clean)
        assert all(cell for each in found for cell in each)
        assert next(each[4] for each in found if "clever method" in each[0]).startswith(
            '<span data-gains="">[the same]'
        )
        assert "– not measured" in [each[4] for each in found]

    def test_no_text_of_a_record_becomes_markup(self, site: SiteData) -> None:
        """Neither a name, nor an alias in an attribute, nor an arm."""
        hostile = '"><script>alert(1)</script> | [x](javascript:alert(2)) `'
        text = matrix_page.render(with_method(site, name=hostile, aliases=(hostile,)))
        assert "<script" not in text
        assert "](javascript" not in text
        assert {len(each) for each in cells(with_method(site, name=hostile))} == {5}

    def test_it_is_published_with_its_data(self, site: SiteData) -> None:
        """As a page, as CSV and as JSON."""
        assert exports.pages(site)[matrix_page.PAGE] == matrix_page.render(site)
        assert {matrix_page.CSV, matrix_page.JSON} <= set(exports.json_files(site))


def test_a_method_or_a_claim_added_later_appears_by_its_record_alone(tmp_path: Path) -> None:
    """A file more, and no line of code or of a page."""
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
    said = [each for each in matrix_data.records(after) if each["method"] == "new" and each["hardware"] == "h200"]
    assert [each["claim"] for each in said if each["goal"] == "speed"] == [
        "training.clever.step-time",
        "training.newer",
    ]


class TestData:
    def test_json_and_csv_hold_the_same_and_each_gap(self, clean: SiteData) -> None:
        """A record for each claim that says something, and one for each goal of which nothing is known."""
        records = json.loads(matrix_data.as_json(clean))["methods"]
        table = list(csv.DictReader(io.StringIO(matrix_data.as_csv(clean))))
        assert len(records) == len(table) == len(list(matrix_data.records(clean)))
        assert {each["status"] for each in records} >= {"supported", "unmeasured", "proven", "cited"}
        seen = {(each["method"], each["hardware"], each["goal"]) for each in records if each["hardware"]}
        assert len(seen) == len(clean.tree.methods) * len(clean.tree.classes) * 3
        assert [each["ratio"] and float(each["ratio"]) for each in table] == [
            each.get("ratio") or "" for each in records
        ]

    def test_no_text_is_a_formula(self, site: SiteData) -> None:
        """A spreadsheet runs what begins with an equals sign."""
        table = list(csv.DictReader(io.StringIO(matrix_data.as_csv(with_method(site, name="=1+1")))))
        assert {each["name"] for each in table} == {"'=1+1"}

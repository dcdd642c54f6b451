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
from pydantic import ValidationError

from headroom.records import MeasuredClaim
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


def row(site: SiteData) -> dict[str, str]:
    """Return the cells of the only row, by the column's title."""
    head, rule, found = [line for line in matrix_page.render(site).splitlines() if line.startswith("| ")]
    assert set(rule) <= set("| -")
    titles, values = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in (head, found))
    return dict(zip(titles, (unescape(each).replace("\u00a0", " ") for each in values), strict=True))


class TestRows:
    def test_every_claim_with_a_result_has_a_row(self, real: SiteData) -> None:
        """No variant hides a claim of its method, and none repeats one."""
        for method in real.tree.methods.values():
            mine = [row for row in matrix_rows.rows(real) if row.method is method]
            shown = Counter(
                (row.name, each.claim.id, hardware, goal)
                for row in mine
                for hardware, goals in row.known.items()
                for goal, found in goals.items()
                for each in found
            )
            assert set(shown.values()) <= {1}
            listed = {name for names in method.claims.values() for name in names}
            known = {name for name in listed if not isinstance(real.tree.claims[name], MeasuredClaim)}
            reported = {name for name in known if not real.tree.claims[name].retired}
            assert reported <= {claim for _, claim, _, _ in shown}

    def test_a_variant_has_its_own_row(self, site: SiteData) -> None:
        """The method's row holds the other claims, and is left out if there are none."""
        variant = {"name": "Slow form", "claims": ("training.slower",)}
        claims = {"speed": ("training.time", "training.slower")}
        found = list(matrix_rows.rows(with_method(site, claims=claims, variants=(variant,))))
        assert [each.name for each in found] == ["Cleverness", "Slow form"]
        assert [[o.claim.id for o in each.known["cpu"]["speed"]] for each in found] == [
            ["training.time"],
            ["training.slower"],
        ]
        alone = with_method(site, claims={"speed": ("training.slower",)}, variants=(variant,))
        assert [each.name for each in matrix_rows.rows(alone)] == ["Slow form"]

    def test_a_variants_claim_must_be_one_of_the_methods(self, site: SiteData) -> None:
        """The error names the claim."""
        with pytest.raises(ValidationError, match=r"a variant lists `training.slower`"):
            with_method(site, claims={}, variants=({"name": "Slow form", "claims": ("training.slower",)},))

    def test_hardware_without_evidence_has_no_column(self, site: SiteData) -> None:
        """Bytes that carry over to a GPU are shown where they were counted."""
        every = list(matrix_rows.rows(with_method(site)))
        assert "h200" in site.tree.classes
        assert list(matrix_rows.hardware(site, every)) == ["cpu"]
        assert [names for _, names in matrix_rows.columns(site, every)] == [("cpu",), ("",)]

    def test_published_hardware_with_few_results_shares_a_column(self, real: SiteData) -> None:
        """Columns with one or two results would be empty but for them."""
        every = list(matrix_rows.rows(real))
        columns = dict(matrix_rows.columns(real, every))
        assert columns["A100"] == ("a100",)
        assert len(columns["Other GPUs"]) > 1
        shown = [name for names in columns.values() for name in names]
        assert sorted(filter(None, shown)) == sorted(matrix_rows.hardware(real, every))

    def test_retired_claims_are_left_out(self, clean: SiteData) -> None:
        """Readers must not decide by them."""
        known = [found for row in matrix_rows.rows(clean) for goals in row.known.values() for found in goals.values()]
        claims = [each.claim for found in known for each in found]
        assert claims
        assert not [claim.id for claim in claims if claim.retired]


class TestPage:
    def test_a_measured_cell_has_figures_ratio_range_conditions_and_verdict(self, site: SiteData) -> None:
        """The cell links to the claim, the method's name to its section."""
        found = row(with_method(site))
        cell = found[site.short_name("cpu")]
        assert "[Cleverness](training/guide.md#a-guide)" in found["Method"]
        assert "[step time: 1.24×](claims/training/time.md)" in cell
        assert "99.2 ms → 80.2 ms, 1.23 to 1.26×" in cell
        assert "step time, against plain" in cell
        assert '<span class="badge badge-supported">measured</span>' in cell
        assert 'data-goal="memory"' in cell
        assert found["Result"] == "–"

    def test_cited_results_have_a_column_of_their_own(self, site: SiteData) -> None:
        """The cell names the source's hardware."""
        found = row(with_method(site))
        assert "8 A100" in found["Cited or computed"]
        assert "badge-cited" in found["Cited or computed"]
        assert "cited" not in found[site.short_name("cpu")]

    def test_a_reported_result_is_in_the_column_of_its_hardware(self, real: SiteData) -> None:
        """It has a ratio, by which the table sorts, and a badge that says that it is reported."""
        head, *lines = (
            line.strip("| ").split(" | ") for line in matrix_page.render(real).splitlines() if line[:1] == "|"
        )
        lora = next(line for line in lines if 'data-names="lora ' in line[0])
        cell = lora[head.index("A100")]
        assert "reported: agrees</span>" in cell
        assert "training/lora-throughput-mistral-7b.md" in cell
        assert 'data-on="a100" data-ratio="1.' in cell

    def test_a_costs_arms_are_swapped(self, site: SiteData) -> None:
        """The claim's baseline is the method; the cell goes from without to with it."""
        name = site.short_name("cpu")
        gain = row(with_method(site, claims={"speed": ("training.time",)}))[name]
        cost = row(with_method(site, claims={"speed": ("training.time",)}, costs=("training.time",)))[name]
        assert "99.2 ms → 80.2 ms" in gain
        assert "80.2 ms → 99.2 ms, 0.797 to 0.812×" in cost
        assert "[step time: 0.804×]" in cost
        assert "against clever" in cost
        assert ("data-gains" in gain, "data-gains" in cost) == (True, False)

    @pytest.mark.parametrize(
        ("claim", "gains"), [("time", "yes"), ("part", "yes"), ("slower", ""), ("noisy", ""), ("disputed", "")]
    )
    def test_only_supported_and_flipping_claims_are_gains(self, site: SiteData, claim: str, gains: str) -> None:
        """The filter for gains must not find contradicted, open or disputed claims."""
        found = row(with_method(site, claims={"speed": (f"training.{claim}",)}))
        assert ("data-gains" in found[site.short_name("cpu")]) == bool(gains)

    def test_a_row_has_the_aliases_of_its_own_variant(self, site: SiteData) -> None:
        """A filter for a variant must not find the method's other forms."""
        variant = {"name": "Slow form", "aliases": ("--slow",), "claims": ("training.slower",)}
        claims = {"speed": ("training.time", "training.slower")}
        varied = with_method(site, aliases=("clever=True", "--slow"), claims=claims, variants=(variant,))
        text = unescape(matrix_page.render(varied))
        assert 'data-names="cleverness Cleverness clever=True"' in text
        assert 'data-names="cleverness Slow form --slow"' in text

    def test_a_proven_result_links_its_proof_and_a_gap_has_a_dash(self, clean: SiteData) -> None:
        """A gap is never an empty cell, and a legend explains the dash."""
        found = cells(clean)
        assert all(cell for each in found for cell in each)
        assert next(each[-1] for each in found if "clever method" in each[0]).startswith(
            '<span data-goal="quality" data-gains="">[the same]'
        )
        assert "–" in [each[-1] for each in found]
        assert "**–** means that nothing is known" in matrix_page.render(clean)

    def test_no_text_of_a_record_becomes_markup(self, site: SiteData) -> None:
        """Check names, aliases in attributes, and arms."""
        hostile = '"><script>alert(1)</script> | [x](javascript:alert(2)) `'
        text = matrix_page.render(with_method(site, name=hostile, aliases=(hostile,)))
        assert "<script" not in text
        assert "](javascript" not in text
        assert {len(each) for each in cells(with_method(site, name=hostile))} == {4}

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
        every = list(matrix_rows.rows(clean))
        seen = {(each["method"], each["name"], each["hardware"], each["goal"]) for each in records if each["hardware"]}
        assert len(seen) == len(every) * len(matrix_rows.hardware(clean, every)) * 3
        assert [each["ratio"] and float(each["ratio"]) for each in table] == [
            each.get("ratio") or "" for each in records
        ]

    def test_no_csv_cell_is_a_formula(self, site: SiteData) -> None:
        """Spreadsheets run cells that start with an equals sign."""
        table = list(csv.DictReader(io.StringIO(matrix_data.as_csv(with_method(site, name="=1+1")))))
        assert {each["name"] for each in table} == {"'=1+1"}

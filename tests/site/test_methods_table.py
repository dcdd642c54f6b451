"""The table of a guide's methods."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import markdown
import pytest

from headroom.site import methods_table
from headroom.site.markdown_extension import HeadroomExtension
from headroom.site.site_data import PageContext, SiteData

CLEAN = Path(__file__).parents[1] / "rule_cases/clean"
LINE = "[](methods:training/gpu.md)"


@pytest.fixture(scope="module")
def site() -> SiteData:
    """Return the clean tree of the rule cases."""
    return SiteData.load(CLEAN)


def rows(site: SiteData, *lines: str, page: PageContext) -> list[list[str]]:
    """Return the cells of the table's rows, without its head."""
    found = methods_table.with_tables(lines, site, page)
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in found if row.startswith("| [")]


GPU = PageContext("training/gpu.md", ("h200",))


class TestTable:
    def test_the_table_has_a_row_per_method_of_the_page(self, site: SiteData) -> None:
        """Each links to its section."""
        found = rows(site, LINE, page=GPU)
        assert len(found) == len(methods_table.of_page(site, "training/gpu.md")) > 1
        assert found[0][0].startswith("[")
        assert all("](#" in row[0] for row in found)

    def test_a_cell_shows_the_first_claim_with_evidence(self, site: SiteData) -> None:
        """Without evidence for the page's class it shows published rows."""
        clever = next(row for row in rows(site, LINE, page=GPU) if "clever method" in row[0])
        assert clever[1] == "[](claim:training.clever.step-time)"
        assert clever[2] == "[](claim:training.clever.saved-memory)"
        elsewhere = PageContext("training/gpu.md", ())
        row = next(row for row in rows(site, LINE, page=elsewhere) if "clever" in row[0])
        assert row[1] == "[](claim:training.clever.published-rate)"

    def test_published_rows_come_before_an_undecided_session(self, site: SiteData) -> None:
        """A decided one comes before them, as the test above shows."""
        board = replace(
            site.board,
            standings={
                claim: {
                    name: replace(each, status="inconclusive") if each.session else each for name, each in known.items()
                }
                for claim, known in site.board.standings.items()
            },
        )
        row = next(row for row in rows(replace(site, board=board), LINE, page=GPU) if "clever method" in row[0])
        assert row[1] == "[](claim:training.clever.published-rate)"

    def test_the_same_result_links_its_proof(self, site: SiteData) -> None:
        """Without a proof the cell shows the quality claims, or a dash."""
        found = {row[0]: row[3] for row in rows(site, LINE, page=GPU)}
        proven = [cell for name, cell in found.items() if "clever method" in name]
        assert proven == ["[the same](#how), which a snippet proves"]
        assert "–" in set(found.values())

    def test_a_cost_is_shown_as_a_gain_without_the_method(self, site: SiteData) -> None:
        """The claim is measured with the method as the baseline."""
        clever = site.tree.methods["clever"].model_copy(update={"costs": ("training.clever.step-time",)})
        turned = replace(site, tree=replace(site.tree, methods={"clever": clever}))
        (found,) = rows(turned, LINE, page=GPU)
        assert found[1:3] == [
            "[](claim:training.clever.step-time) without it",
            "[](claim:training.clever.saved-memory)",
        ]

    def test_rows_follow_the_sections_of_the_page(self, site: SiteData) -> None:
        """On another page they are sorted by name and link to the guide."""
        names = [row[0] for row in rows(site, LINE, page=GPU)]
        anchors = [name.partition("](#")[2].partition(")")[0] for name in names]
        turned = [f"## A section {{#{anchor}}}" for anchor in reversed(dict.fromkeys(anchors))]
        again = [row[0].partition("](#")[2].partition(")")[0] for row in rows(site, LINE, *turned, page=GPU)]
        assert list(dict.fromkeys(again)) == list(reversed(dict.fromkeys(anchors)))
        other = rows(site, LINE, page=PageContext("index.md", ("h200",)))
        assert all("](training/gpu.md#" in row[0] for row in other)

    def test_a_guide_of_several_pages_shows_the_methods_of_all(self, tmp_path: Path) -> None:
        """The order is that of the links, then of the sections."""
        tree = tmp_path / "tree"
        shutil.copytree(CLEAN, tree)
        folder = tree / "docs/training/gpu"
        folder.mkdir()
        for page, anchors in {"late": ["c"], "early": ["b", "a"]}.items():
            (folder / f"{page}.md").write_text("\n".join(f"## Section {{#{each}}}" for each in anchors), "utf-8")
        places = {"clever": "late.md#c", "others": "early.md#a", "words": "early.md#b"}
        for name, place in places.items():
            path = tree / f"checks/methods/{name}.yml"
            path.write_text(re.sub(r"section: \S+", f"section: training/gpu/{place}", path.read_text("utf-8")), "utf-8")
        lines = ["See [this](gpu/early.md#b) first, then [that](gpu/late.md).", LINE]
        found = [row[0] for row in rows(SiteData.load(tree), *lines, page=GPU)]
        targets = [name.partition("](gpu/")[2].partition(")")[0] for name in found]
        assert targets == ["early.md#a", "late.md#c"]
        assert [name.partition("{ #")[2] for name in found] == ["row-others }", "row-clever }"]
        last = methods_table.with_tables(lines, SiteData.load(tree), GPU)[-1]
        assert last.startswith("“–” means that nothing is known. Methods without a figure: [")
        assert "](gpu/early.md#b){ #row-words }" in last

    def test_a_reported_figure_says_what_it_is_of(self, site: SiteData) -> None:
        """Its record's `in_brief`, once, before the place and the date."""
        extension = HeadroomExtension(site=site, page=lambda: GPU)
        html = markdown.markdown("[](claim:training.clever.published-memory)", extensions=[extension])
        assert html.count("of published rows; ") == 1
        assert re.search(r"</strong>\s*<small>of published rows; [^<]+</small>", html)

    def test_cells_are_summaries_on_the_site(self, site: SiteData) -> None:
        """The extension inserts the table before it resolves links."""
        extension = HeadroomExtension(site=site, page=lambda: GPU)
        html = markdown.markdown(f"before\n\n{LINE}\n\nafter", extensions=["tables", extension])
        assert "claim-summary" in html
        assert "methods:" not in html

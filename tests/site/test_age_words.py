"""Old evidence, retired claims and disputes on the site."""

import json
from html import unescape
from pathlib import Path
from re import findall, sub
from typing import Any

import markdown
import pytest
import yaml

from factories import edited
from headroom.io import git_history
from headroom.records import paths
from headroom.site import exports
from headroom.site.claims import claim_page
from headroom.site.markdown_extension import HeadroomExtension
from headroom.site.site_data import PageContext, SiteData

EXTENSIONS = ["tables", "attr_list", "md_in_html", "admonition", "pymdownx.details", "pymdownx.superfences"]
RETIRED = {"since": "2026-11-21", "why": "It asked <b>too much</b> | of it.", "superseded_by": "training.memory"}


def page_of(site: SiteData, name: str) -> str:
    """Return a claim's page as HTML, without its front matter."""
    body = claim_page.render(site.tree.claims[f"training.{name}"], site).split("\n---\n", 1)[1]
    return markdown.markdown(body, extensions=EXTENSIONS)


def shown(html: str) -> str:
    """Return a page's visible text with normalised spaces."""
    return " ".join(unescape(sub(r"<[^>]+>", " ", html)).replace("\u00a0", " ").split())


def linked(site: SiteData, text: str, *hardware: str) -> str:
    """Return a page's text as HTML."""
    extension = HeadroomExtension(site=site, page=lambda: PageContext("training/guide.md", hardware))
    return markdown.markdown(text, extensions=["tables", extension])


def change(root: Path, name: str, **fields: Any) -> None:
    """Change a claim of a tree."""
    path = root / f"checks/registry/training/{name}.yml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text("utf-8")), **fields}), "utf-8")


def keep(root: Path, evidence: Any) -> None:
    """Add a session to a tree."""
    text = paths.evidence_text(evidence)
    (root / paths.evidence_path(evidence, text)).write_text(text, "utf-8")


class TestAge:
    @pytest.fixture
    def old(self, own_root: Path, monkeypatch: pytest.MonkeyPatch) -> SiteData:
        """Return the tree five years later, with one claim that accepts older evidence."""
        monkeypatch.setattr(git_history, "last_commit_day", lambda _: "2029-01-01")
        change(own_root, "sweep", freshness={"max_age_days": 900})
        change(own_root, "part", freshness={"max_age_days": 1100})
        return SiteData.load(own_root)

    def test_fresh_evidence_adds_no_word(self, site: SiteData) -> None:
        """Check that neither badge nor sentence mentions age."""
        text = "".join(exports.pages(site).values())
        assert "stale" not in text.lower()
        assert "ageing" not in text.lower()

    @pytest.mark.parametrize(
        ("name", "word"),
        [("time", "measured, stale"), ("sweep", "depends, ageing"), ("part", "measured")],
    )
    def test_the_badge_names_the_age_after_the_verdict(self, old: SiteData, name: str, word: str) -> None:
        """Check a page, the claim's page and the index."""
        html = linked(old, f"It [is so](claim:training.{name}).", "cpu")
        assert findall(r'<span class="badge badge-\w+"[^>]*>([^<]+)</span>', html) == [word]
        assert f">{word}<" in page_of(old, name)

    def test_the_sentence_gives_the_reason(self, old: SiteData) -> None:
        """Check the days or versions after the result."""
        page = shown(page_of(old, "time"))
        assert ". Stale: 773 days old, limit 365." in page
        html = linked(old, "[20 %](claim:training.time#change@cpu)", "cpu")
        assert "Stale: 773 days old, limit 365." in html

    def test_carried_over_figures_keep_their_age(self, old: SiteData) -> None:
        """The figures come from the same session."""
        html = linked(old, "It [is so](claim:training.memory).", "h200")
        assert ">counted on a CPU, stale<" in html

    def test_the_exported_data_has_the_age(self, old: SiteData) -> None:
        """Check every standing with evidence."""
        found = {claim["id"]: claim["standings"] for claim in json.loads(exports.claims_json(old))["claims"]}
        cpu = found["training.time"]["cpu"]
        assert (cpu["status"], cpu["age"], cpu["age_reason"]) == (
            "supported",
            "stale",
            "773 days old, limit 365",
        )
        assert found["training.unmeasured"]["cpu"]["age"] is None


class TestRetired:
    @pytest.fixture
    def gone(self, own_root: Path) -> SiteData:
        """Return the tree with a measured and a cited claim retired."""
        change(own_root, "time", retired=RETIRED)
        change(own_root, "cited", retired={"since": "2026-11-20", "why": "Its source was withdrawn."})
        return SiteData.load(own_root)

    def test_a_retired_claims_page_starts_with_the_notice(self, gone: SiteData) -> None:
        """Check the date, the reason and the replacement; the rest of the page stays."""
        html = page_of(gone, "time")
        assert shown(html).startswith(
            "Clever is faster retired Retired since 21 November 2026: It asked <b>too much</b> | of it. Replaced by: "
            "The clever arm keeps less memory for backward than the plain one . measured On an x86 server CPU"
        )
        assert '<a href="memory.md">' in html
        assert "<b>too" not in html
        assert "Its source was withdrawn. No other claim replaces it." in shown(page_of(gone, "cited"))

    def test_the_replacements_page_names_the_retired_claim(self, gone: SiteData) -> None:
        """Check that no other page does."""
        assert "Replaces Clever is faster . Retired since 21 November 2026: It asked" in shown(page_of(gone, "memory"))
        assert "Replaces" not in shown(page_of(gone, "time")) + shown(page_of(gone, "slower"))

    def test_links_to_a_retired_claim_are_marked(self, gone: SiteData) -> None:
        """Check the badge and the figure's class; no verdict is shown."""
        for text in ("It [is so](claim:training.time)", "It is [20 %](claim:training.time#change@cpu)"):
            html = linked(gone, text, "cpu")
            assert findall(r'<span class="badge badge-(\w+)"[^>]*>([^<]+)</span>', html) == [("retired", "retired")]
            assert findall(r'class="(claim[^"]* retired)"', html)
            assert "Retired since 21 November 2026" in unescape(html).replace("\u00a0", " ")

    def test_a_cell_shows_no_figure_of_a_retired_claim(self, gone: SiteData) -> None:
        """Readers must not decide by it."""
        for name in ("time", "cited"):
            html = linked(gone, f"[](claim:training.{name})", "cpu")
            assert shown(html) == "retired"

    def test_index_and_data_mark_a_retired_claim(self, gone: SiteData) -> None:
        """Check the index and all fields of the export."""
        index = shown(markdown.markdown(exports.index(gone).split("\n---\n", 1)[1], extensions=EXTENSIONS))
        assert "Clever is faster retired since 21 November 2026" in index
        found = {claim["id"]: claim for claim in json.loads(exports.claims_json(gone))["claims"]}
        assert (found["training.time"]["state"], found["training.time"]["retired"]) == ("retired", RETIRED)
        assert (found["training.memory"]["state"], found["training.memory"]["retired"]) == ("active", None)
        assert found["training.memory"]["supersedes"] == ["training.time"]


class TestDisputed:
    def test_both_sessions_are_shown_side_by_side(self, site: SiteData) -> None:
        """Check day, result and data of each, the supporting one first."""
        page = shown(page_of(site, "disputed"))
        section = page.partition("Disputed on an x86 server CPU")[2]
        assert section.startswith(
            " says that it holds says that the opposite holds measured 19 November 2026 20 November"
        )
        assert "found ratio 1.24, 99 % interval 1.23 to 1.26 ratio 0.796, 99 % interval" in section
        raw = {session.path for session in site.tree.sessions if session.head.benchmark == "argued"}
        html = page_of(site, "disputed").partition("Disputed on")[2].partition("</table>")[0]
        assert {f"../../{path.removeprefix('checks/')}" for path in raw} == set(findall(r'href="([^"]+json)"', html))
        assert "No recorded property differs between them" in section

    def test_only_differing_properties_are_listed(self, own_root: Path, site: SiteData) -> None:
        """Check versions, driver and time; a missing value is "unknown"."""
        newest = max((s for s in site.tree.sessions if s.head.benchmark == "argued"), key=lambda s: s.head.date)

        def elsewhere(data: dict[str, Any]) -> None:
            versions = {"torch": "2.13.1+cpu", "transformers": "5.23.0", "python": "3.11.7"}
            data["environment"].update(versions=versions, governor="powersave | x", cores=64)
            data["time"] = "17:56:35"

        (own_root / newest.path).unlink()
        keep(own_root, edited(newest.evidence, elsewhere))
        html = page_of(SiteData.load(own_root), "disputed").partition("Disputed on")[2]
        rows = dict(findall(r"<tr>\s*<td>([^<]*)</td>\s*<td>(.*?)</td>\s*</tr>", html.replace("\n", "")))
        table = {
            name: [shown(cell) for cell in sub(r"</td>\s*<td>", "\t", cells).split("\t")]
            for name, cells in rows.items()
        }
        assert table["measured"] == ["19 November 2026", "20 November 2026, 17:56:35 UTC"]
        assert table["cores"] == ["8", "64"]
        assert table["governor"] == ["unknown", "powersave | x"]
        assert table["torch"] == ["2.13.0", "2.13.1+cpu"]
        assert table["transformers"] == ["unknown", "5.23.0"]
        assert not {"product", "threads", "driver", "python", "memory", "harness"} & set(table)
        assert "First check the differences between them: cores, governor, torch, transformers." in shown(html)

    def test_the_section_explains_what_to_conclude(self, site: SiteData) -> None:
        """Check the advice and what ends the dispute."""
        page = shown(page_of(site, "disputed"))
        assert "Until that is explained, trust neither" in page
        assert "The dispute ends when 3 sessions in a row agree" in page
        assert "no session is ever deleted" in page

    def test_only_a_disputed_claim_has_the_section(self, site: SiteData) -> None:
        """Check the pages of all other claims."""
        having = [claim for claim in site.tree.claims.values() if "## Disputed on" in claim_page.render(claim, site)]
        assert [claim.id for claim in having] == ["training.disputed"]

    def test_badge_and_data_mark_a_dispute(self, site: SiteData) -> None:
        """Check the export's two sessions."""
        assert ">disputed<" in linked(site, "[is so](claim:training.disputed)", "cpu")
        (found,) = (c for c in json.loads(exports.claims_json(site))["claims"] if c["id"] == "training.disputed")
        assert found["standings"]["cpu"]["status"] == "disputed"
        assert len(found["standings"]["cpu"]["disputed_between"]) == 2

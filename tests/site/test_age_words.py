"""What the site says of old evidence, of claims that are no longer made, and of sessions that disagree."""

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
    """A claim's page as HTML, without its front matter."""
    body = claim_page.render(site.tree.claims[f"training.{name}"], site).split("\n---\n", 1)[1]
    return markdown.markdown(body, extensions=EXTENSIONS)


def shown(html: str) -> str:
    """What a reader sees of it, spaces normalised."""
    return " ".join(unescape(sub(r"<[^>]+>", " ", html)).replace("\u00a0", " ").split())


def linked(site: SiteData, text: str, *hardware: str) -> str:
    """A page's text as HTML."""
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
        """The tree five years later, with a claim that has more patience."""
        monkeypatch.setattr(git_history, "last_commit_day", lambda _: "2029-01-01")
        change(own_root, "sweep", freshness={"max_age_days": 900})
        change(own_root, "part", freshness={"max_age_days": 1100})
        return SiteData.load(own_root)

    def test_fresh_evidence_goes_without_saying(self, site: SiteData) -> None:
        """No badge has a word more, and no sentence."""
        text = "".join(exports.pages(site).values())
        assert "stale" not in text.lower()
        assert "ageing" not in text.lower()

    @pytest.mark.parametrize(
        ("name", "word"),
        [("time", "measured, stale"), ("sweep", "gain from 8 sequences up, ageing"), ("part", "from 8 sequences up")],
    )
    def test_the_badge_says_it_in_a_word(self, old: SiteData, name: str, word: str) -> None:
        """Behind the verdict, which is the same; on a page, on the claim's page and in the index."""
        html = linked(old, f"It [is so](claim:training.{name}).", "cpu")
        assert findall(r'<span class="badge badge-\w+"[^>]*>([^<]+)</span>', html) == [word]
        assert f">{word}<" in page_of(old, name)

    def test_the_sentence_says_why(self, old: SiteData) -> None:
        """With the days or the versions, behind what was found."""
        page = shown(page_of(old, "time"))
        assert ". Stale: 773 days old, limit 365." in page
        html = linked(old, "[20 %](claim:training.time#change@cpu)", "cpu")
        assert "Stale: 773 days old, limit 365." in html

    def test_what_carries_over_carries_its_age(self, old: SiteData) -> None:
        """It is the same session."""
        html = linked(old, "It [is so](claim:training.memory).", "h200")
        assert ">counted on a CPU, stale<" in html

    def test_the_data_says_it(self, old: SiteData) -> None:
        """For every standing that has evidence."""
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
        """The tree with a measured and a cited claim retired."""
        change(own_root, "time", retired=RETIRED)
        change(own_root, "cited", retired={"since": "2026-11-20", "why": "Its source was withdrawn."})
        return SiteData.load(own_root)

    def test_its_page_says_so_first(self, gone: SiteData) -> None:
        """Since when, why, and what took its place; then all that it says of a claim that is made."""
        html = page_of(gone, "time")
        assert shown(html).startswith(
            "Clever is faster retired Retired since 21 November 2026: It asked <b>too much</b> | of it. In its place: "
            "The clever arm keeps less memory for backward than the plain one . measured On an x86 server CPU"
        )
        assert '<a href="memory.md">' in html
        assert "<b>too" not in html
        assert "Its source was withdrawn. No other claim took its place." in shown(page_of(gone, "cited"))

    def test_the_page_of_what_took_its_place_names_it(self, gone: SiteData) -> None:
        """And no other page does."""
        assert "In the place of Clever is faster . Retired since 21 November 2026: It asked" in shown(
            page_of(gone, "memory")
        )
        assert "In the place of" not in shown(page_of(gone, "time")) + shown(page_of(gone, "slower"))

    def test_words_and_figures_that_are_linked_to_it_are_marked(self, gone: SiteData) -> None:
        """By a word in a badge and by a line through them; a verdict is not shown."""
        for text in ("It [is so](claim:training.time)", "It is [20 %](claim:training.time#change@cpu)"):
            html = linked(gone, text, "cpu")
            assert findall(r'<span class="badge badge-(\w+)"[^>]*>([^<]+)</span>', html) == [("retired", "retired")]
            assert findall(r'class="(claim[^"]* retired)"', html)
            assert "Retired since 21 November 2026" in unescape(html).replace("\u00a0", " ")

    def test_a_cell_shows_no_figure_of_it(self, gone: SiteData) -> None:
        """Somebody could decide by it."""
        for name in ("time", "cited"):
            html = linked(gone, f"[](claim:training.{name})", "cpu")
            assert shown(html) == "retired"

    def test_the_index_and_the_data_say_so(self, gone: SiteData) -> None:
        """In place of its standing, and with all that the record holds."""
        index = shown(markdown.markdown(exports.index(gone).split("\n---\n", 1)[1], extensions=EXTENSIONS))
        assert "Clever is faster retired since 21 November 2026" in index
        found = {claim["id"]: claim for claim in json.loads(exports.claims_json(gone))["claims"]}
        assert (found["training.time"]["state"], found["training.time"]["retired"]) == ("retired", RETIRED)
        assert (found["training.memory"]["state"], found["training.memory"]["retired"]) == ("active", None)
        assert found["training.memory"]["supersedes"] == ["training.time"]


class TestDisputed:
    def test_both_sessions_stand_side_by_side(self, site: SiteData) -> None:
        """Each with its day, what it found and its data, the one that supports first."""
        page = shown(page_of(site, "disputed"))
        section = page.partition("Disputed on an x86 server CPU")[2]
        assert section.startswith(
            " says that it holds says that the opposite holds measured 19 November 2026 20 November"
        )
        assert "found ratio 1.24, 99 % interval 1.23 to 1.26 ratio 0.796, 99 % interval" in section
        raw = {session.path for session in site.tree.sessions if session.head.benchmark == "argued"}
        html = page_of(site, "disputed").partition("Disputed on")[2].partition("</table>")[0]
        assert {f"../../{path.removeprefix('checks/')}" for path in raw} == set(findall(r'href="([^"]+json)"', html))
        assert "Nothing that is recorded differs between them" in section

    def test_what_differs_is_shown_and_what_does_not_is_left_out(self, own_root: Path, site: SiteData) -> None:
        """Versions, driver, time; what one does not know is said to be unknown."""
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
        assert "Look first at what differs between them: cores, governor, torch, transformers." in shown(html)

    def test_it_says_what_to_make_of_it(self, site: SiteData) -> None:
        """Nothing for true, and what would end it."""
        page = shown(page_of(site, "disputed"))
        assert "Until that is explained, take neither for true" in page
        assert "The dispute ends when 3 sessions in a row agree" in page
        assert "no session is ever taken away" in page

    def test_only_a_disputed_claim_has_the_section(self, site: SiteData) -> None:
        """The others have nothing to explain."""
        having = [claim for claim in site.tree.claims.values() if "## Disputed on" in claim_page.render(claim, site)]
        assert [claim.id for claim in having] == ["training.disputed"]

    def test_the_badge_and_the_data_say_so(self, site: SiteData) -> None:
        """With the sessions that disagree."""
        assert ">disputed<" in linked(site, "[is so](claim:training.disputed)", "cpu")
        (found,) = (c for c in json.loads(exports.claims_json(site))["claims"] if c["id"] == "training.disputed")
        assert found["standings"]["cpu"]["status"] == "disputed"
        assert len(found["standings"]["cpu"]["disputed_between"]) == 2

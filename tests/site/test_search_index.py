"""Weights and texts of the search index."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import markdown
import material
import pytest
from material.plugins.search.plugin import SearchIndex

from headroom.pages.source import parse
from headroom.site.claims.claim_page import render
from headroom.site.exports.error_texts import error_texts
from headroom.site.exports.search_index import FIELDS, address, searched, trim_search_entry, with_boosts
from headroom.site.exports.search_worker import WORKERS, corrected
from headroom.site.markdown_extension import HeadroomExtension
from headroom.site.site_data import PageContext, SiteData, claim_page, html_page

CLEAN = Path(__file__).parents[1] / "rule_cases/clean"
GPU = PageContext("training/gpu.md", ("h200",))


@pytest.fixture(scope="module")
def site() -> SiteData:
    """Return the clean tree of the rule cases."""
    return SiteData.load(CLEAN)


def entries(site: SiteData, *places: str, title: str = "Any title") -> list[dict[str, Any]]:
    """Return index entries of these places."""
    docs = [{"location": place, "title": title, "text": "any text"} for place in places]
    found = with_boosts({"config": {"lang": ["en"], "fields": {"title": {"boost": 1000}}}, "docs": docs}, site)
    assert found["config"] == {"lang": ["en"], "fields": {name: {"boost": boost} for name, boost in FIELDS.items()}}
    assert [(each["location"], each["text"]) for each in found["docs"]] == [(place, "any text") for place in places]
    return list(found["docs"])


class TestBoosts:
    def test_a_methods_section_has_its_names_aliases_and_symptoms(self, site: SiteData) -> None:
        """Each is also one word; no other section has them."""
        section, other = entries(site, "training/gpu.html#how", "training/gpu.html#no-claim")
        names = section["names"].split()
        assert {"clever", "method", "cleverness", "slow", "other"} <= {*names}
        assert {"zztheclevermethod", "zzcleverness", "zztrainingisslow", "zzothermethods"} <= {*names}
        assert len(names) == len({*names})
        assert other["names"] == "zzanytitle"

    def test_every_title_is_also_one_word(self, site: SiteData) -> None:
        """A query with the whole title finds it first; a claim's title is a sentence that nobody types."""
        (entry,) = entries(site, "a.html", title="8-bit <code>AdamW</code> &amp; more")
        assert entry["names"] == "zz8bitadamwmore"
        (claim,) = entries(site, "claims/a.html", title="AdamW is slower.")
        assert claim["names"] == ""

    def test_quoted_messages_are_names_of_their_section(self, site: SiteData) -> None:
        """Lines of a text fence and code of four words are messages; other code and other sections are not."""
        text = (
            "# Page {#page}\n\n## One {#one}\n\n```text\nRuntimeError: it does break\nshort line\n```\n\n"
            "`Found no driver here` and `a_setting`.\n\n## Two {#two}\n\n```python\nit = does + break + too\n```\n"
        )
        pages = (parse("docs/training/faults.md", text),)
        found = error_texts(pages)
        assert found == {"training/faults.md#one": ["RuntimeError: it does break", "Found no driver here"]}
        places = ("training/faults.html#one", "training/faults.html#two")
        one, two = entries(replace(site, pages=pages), *places)
        assert {"runtimeerror", "driver", "zzfoundnodriverhere"} <= {*one["names"].split()}
        assert two["names"] == "zzanytitle"

    def test_a_message_above_every_anchor_is_left_out(self) -> None:
        """There is no section to rank."""
        assert error_texts([parse("docs/a.md", "# Page\n\n`Found no driver here`\n")]) == {}

    def test_a_section_weighs_more_than_its_page_and_a_guide_more_than_a_claim(self, site: SiteData) -> None:
        """The theme multiplies pages' scores, and claims have only page entries."""
        section, page, claim, contributing = (
            each["boost"]
            for each in entries(site, "a/b.html#c", "a/b.html", "claims/training/x.html", "contribute/a.html#c")
        )
        assert claim < contributing < page < section

    def test_addresses_of_sections(self) -> None:
        """Check pages and notebooks."""
        assert address("a/b.md#c") == "a/b.html#c"
        assert address("a/b.ipynb") == "a/b.html"


class TestTrimmedEntries:
    def entries(self, site: SiteData, path: str, html: str, *, trimmed: bool) -> list[dict[str, Any]]:
        """Return the theme's index entries of a page."""
        index = SearchIndex()
        if trimmed:
            trim_search_entry(index, site)
        file = SimpleNamespace(src_uri=path)
        page = SimpleNamespace(content=html, meta={}, toc=[], url=html_page(path), title="Title", file=file)
        index.add_entry_from_context(page)
        assert page.content == html
        return list(index.entries)

    def test_a_trimmed_claim_page_gives_the_same_entry(self, site: SiteData) -> None:
        """The theme reads only its sentence and verdict."""
        extensions = ["toc", "tables", "attr_list", "md_in_html", "pymdownx.details", "pymdownx.superfences"]
        for claim in site.tree.claims.values():
            path, text = claim_page(claim.id), render(claim, site).split("\n---\n", 1)[1]
            html = markdown.markdown(text, extensions=extensions)
            assert len(searched(html)) < len(html) / 2
            found = self.entries(site, path, html, trimmed=True)
            tables, unmeasured = r"<table\b.*?</table>", r'<p><span class="badge badge-unmeasured">.*?</p>'
            without = re.sub(f"{tables}|{unmeasured}", "", html, flags=re.DOTALL)  # sentences have the figures
            assert found == self.entries(site, path, without, trimmed=False)
            assert len(found) == 1

    def test_other_pages_are_not_trimmed(self, site: SiteData) -> None:
        """A section after an excluded one is still found."""
        html = '<h1 id="a">A</h1><h2 data-search-exclude id="b">B</h2><p>b</p><h2 id="c">C</h2><p>c</p>'
        found = self.entries(site, "training/gpu.md", html, trimmed=True)
        assert [entry["title"] for entry in found] == ["A", "C"]

    def test_pictures_are_found_by_title_and_description_alone(self, site: SiteData) -> None:
        """Labels are single words and figures, of which the description has the sentences."""
        drawn = '<svg><title>A ring</title><desc>Keys go around.</desc><text x="1">GPU <tspan>0</tspan></text></svg>'
        html = f'<h1 id="a">A</h1><figure>{drawn}</figure>'
        (found,) = self.entries(site, "training/gpu.md", html, trimmed=True)
        assert "A ring" in found["text"]
        assert "Keys go around." in found["text"]
        assert "GPU" not in found["text"]
        assert "GPU" in self.entries(site, "training/gpu.md", html, trimmed=False)[0]["text"]


class Text(HTMLParser):
    """The text of a page without the elements that the search leaves out."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.open: list[bool] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember whether the element is left out."""
        if tag not in ("br", "img", "hr"):
            self.open.append(tag == "script" or "data-search-exclude" in dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        """Forget the element."""
        if tag not in ("br", "img", "hr"):
            self.open.pop()

    def handle_data(self, data: str) -> None:
        """Collect the text outside of excluded elements."""
        if not any(self.open):
            self.text += data


class TestPage:
    def page(self, site: SiteData, text: str, page: PageContext = GPU) -> str:
        """Return a page as the extension renders it."""
        extension = HeadroomExtension(site=site, page=lambda: page)
        return markdown.markdown(text, extensions=["toc", "attr_list", "fenced_code", extension])

    def test_names_and_symptoms_are_folded_below_the_heading(self, site: SiteData) -> None:
        """The heading's anchor may be written or derived from its title."""
        for heading in ("## How", "## In which way {#how}"):
            found = self.page(site, f"# Page\n\n{heading}\n\nText.\n\n## Else\n\nMore.")
            head, _, rest = found.partition("</h2>")
            folded, _, after = rest.partition("</details>")
            assert folded.lstrip().startswith('<details class="known-as">')
            assert "<strong>The clever method.</strong> Also called: cleverness. You see: training is slow." in folded
            assert "<strong>Other methods.</strong> You see: training is slow." in folded
            assert "known-as" not in head + after

    def test_other_pages_have_no_names(self, site: SiteData) -> None:
        """The same anchor on another page is another section."""
        assert "known-as" not in self.page(site, "## How", PageContext("training/cpu.md"))

    def test_badges_summaries_and_run_lines_are_left_out(self, site: SiteData) -> None:
        """They repeat on many pages."""
        text = "A [step](claim:training.clever.step-time) and [](claim:training.clever.saved-memory).\n\n"
        text += '```python\n--8<-- "snippets/training/clever.py:enable"\n```\n'
        found = Text(self.page(site, text)).text
        assert "A step" in found
        noise = ("from 8 sequences", "saved-activation", "counted", "uv run", "Whole file")
        assert [word for word in noise if word in found] == []


class TestWorker:
    def test_the_themes_worker_separates_the_edges_of_a_node(self) -> None:
        (worker,) = (Path(material.__file__).parent / "templates" / WORKERS).glob("search.*.min.js")
        script = worker.read_text("utf-8")
        found = corrected(script)
        assert len(found) - len(script) == len('+","')
        assert '.id+","}return' in found

    @pytest.mark.parametrize("script", ["", "TokenSet.prototype.toString=function(){e=e+s+o.id}return e}" * 2])
    def test_another_worker_is_refused(self, script: str) -> None:
        with pytest.raises(ValueError, match=r"in [02] places"):
            corrected(script)

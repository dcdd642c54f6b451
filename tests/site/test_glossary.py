"""The words of the guides: their page, and the link where a page first uses one."""

from dataclasses import replace
from xml.etree.ElementTree import fromstring, tostring

import pytest

from headroom.pages.glossary_terms import pattern
from headroom.records.terms import Term
from headroom.site import glossary_page
from headroom.site.site_data import PageContext, SiteData

TERMS = {
    "hbm": Term(name="HBM", also=("high-bandwidth memory",), means="Memory of a GPU."),
    "kernel": Term(name="kernel", means="What runs on a GPU, from HBM and back.", see=("training/guide.md",)),
    "odd": Term(name="odd word", means="<script>alert(1)</script> [x](javascript:y)"),
}


@pytest.fixture
def words(site: SiteData) -> SiteData:
    """The small tree with a few words."""
    return replace(site, tree=replace(site.tree, glossary=TERMS))


def explained(html: str, site: SiteData, path: str = "training/guide.md") -> str:
    """A piece of a page, its words explained."""
    root = fromstring(html)  # noqa: S314 - written below
    glossary_page.explain(root, site, PageContext(path))
    return tostring(root, encoding="unicode").replace(' class="term"', "")


class TestOnAPage:
    """The first use of a word."""

    def test_is_a_link_with_its_meaning(self, words: SiteData) -> None:
        """Only the first, in the singular or the plural, and the text around it stays."""
        found = explained("<div><p>A kernel. <b>Kernels</b> and more</p>, HBM of it</div>", words)
        kernel = '<a href="../concepts/glossary.md#kernel" title="What runs on a GPU, from HBM and back.">kernel</a>'
        hbm = '<a href="../concepts/glossary.md#hbm" title="Memory of a GPU.">HBM</a>'
        assert found == f"<div><p>A {kernel}. <b>Kernels</b> and more</p>, {hbm} of it</div>"

    def test_two_words_in_one_text_are_two_links(self, words: SiteData) -> None:
        """In their order."""
        found = explained("<p>kernel, HBM, kernel</p>", words)
        assert found.count("<a ") == 2
        assert found.startswith("<p><a ")
        assert found.endswith("</a>, kernel</p>")

    @pytest.mark.parametrize("tag", ["h2", "code", "a", "summary", "select"])
    def test_is_none_where_a_link_would_disturb(self, words: SiteData, tag: str) -> None:
        """Headings, code and what is a link already."""
        html = f"<div><{tag}>a kernel</{tag}></div>"
        assert explained(html, words) == html

    @pytest.mark.parametrize("path", ["concepts/glossary.md", "claims/training/x.md", "contribute/guide.md"])
    def test_is_none_on_other_pages(self, words: SiteData, path: str) -> None:
        """The glossary itself, claims, and what contributors read."""
        assert explained("<p>a kernel</p>", words, path) == "<p>a kernel</p>"


def test_an_abbreviation_counts_as_it_is_written() -> None:
    """Other words in any case; none within a word."""
    found = pattern(TERMS.values()).findall("hbm HBM Kernel kernels sub-kernel kernelized High-bandwidth memory")
    assert found == ["HBM", "Kernel", "kernels", "High-bandwidth memory"]


class TestPage:
    """The page of all words."""

    def test_has_an_anchor_for_each_and_links_between_them(self, words: SiteData) -> None:
        """In the order of the alphabet, with other spellings and places."""
        text = glossary_page.render(words)
        assert text.index("## HBM { #hbm }") < text.index("## kernel { #kernel }")
        assert "Also: high-bandwidth memory." in text
        assert "from [HBM](#hbm) and back" in text
        assert "See [training/guide.md](../training/guide.md)." in text

    def test_shows_hostile_texts_as_they_are(self, words: SiteData) -> None:
        """Neither markup nor links."""
        text = glossary_page.render(words)
        assert "<script" not in text
        assert "](javascript" not in text

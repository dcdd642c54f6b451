"""The glossary page, and the links of terms on other pages."""

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
    """Return the small tree with a few terms."""
    return replace(site, tree=replace(site.tree, glossary=TERMS))


def explained(html: str, site: SiteData, path: str = "training/guide.md") -> str:
    """Return a part of a page with its terms linked."""
    root = fromstring(html)  # noqa: S314 - written below
    glossary_page.explain(root, site, PageContext(path))
    return tostring(root, encoding="unicode").replace(' class="term"', "")


class TestTermLinks:
    """The first use of a term on a page."""

    def test_the_first_use_is_linked_with_its_definition(self, words: SiteData) -> None:
        """Singular and plural count as one term; the surrounding text stays."""
        found = explained("<div><p>A kernel. <b>Kernels</b> and more</p>, HBM of it</div>", words)
        kernel = '<a href="../concepts/glossary.md#kernel" title="What runs on a GPU, from HBM and back.">kernel</a>'
        hbm = '<a href="../concepts/glossary.md#hbm" title="Memory of a GPU.">HBM</a>'
        assert found == f"<div><p>A {kernel}. <b>Kernels</b> and more</p>, {hbm} of it</div>"

    def test_two_terms_in_one_text_are_two_links(self, words: SiteData) -> None:
        """Check their order."""
        found = explained("<p>kernel, HBM, kernel</p>", words)
        assert found.count("<a ") == 2
        assert found.startswith("<p><a ")
        assert found.endswith("</a>, kernel</p>")

    @pytest.mark.parametrize("tag", ["h2", "code", "a", "summary", "select"])
    def test_headings_code_and_links_have_no_term_links(self, words: SiteData, tag: str) -> None:
        """Check each kind of element."""
        html = f"<div><{tag}>a kernel</{tag}></div>"
        assert explained(html, words) == html

    @pytest.mark.parametrize("path", ["concepts/glossary.md", "claims/training/x.md", "contribute/guide.md"])
    def test_excluded_pages_have_no_term_links(self, words: SiteData, path: str) -> None:
        """Check the glossary, claims and pages for contributors."""
        assert explained("<p>a kernel</p>", words, path) == "<p>a kernel</p>"


def test_abbreviations_match_case_and_other_terms_do_not() -> None:
    found = pattern(TERMS.values()).findall("hbm HBM Kernel kernels sub-kernel kernelized High-bandwidth memory")
    assert found == ["HBM", "Kernel", "kernels", "High-bandwidth memory"]


class TestPage:
    """The glossary page."""

    def test_terms_are_sorted_with_anchors_and_links_between_them(self, words: SiteData) -> None:
        """Check spellings and sections, too."""
        text = glossary_page.render(words)
        assert text.index("## HBM { #hbm }") < text.index("## kernel { #kernel }")
        assert "Also: high-bandwidth memory." in text
        assert "from [HBM](#hbm) and back" in text
        assert "See [training/guide.md](../training/guide.md)." in text

    def test_hostile_texts_are_escaped(self, words: SiteData) -> None:
        """Check for markup and links."""
        text = glossary_page.render(words)
        assert "<script" not in text
        assert "](javascript" not in text

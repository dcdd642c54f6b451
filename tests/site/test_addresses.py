"""Redirects of old addresses with their anchors, and the 404 page."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from built_sites import Page, build
from headroom.pages.old_pages import OldPage, old_pages, resolver
from headroom.pages.source import parse
from headroom.records.methods import Method
from headroom.site import planned
from headroom.site.addresses import not_found, redirects
from headroom.site.method_finder import start_page
from headroom.site.site_data import PageContext, SiteData

ROOT = Path(__file__).parents[2]
# The pages of the best-known guide to this subject, 2021 to 2026, with their anchors.
KNOWN = (Path(__file__).parent / "old-addresses.txt").read_text("utf-8").split()
MENTIONED = ["perf_train_gpu_one", "perf_infer_gpu_one", "perf_hardware", "fsdp", "tf_xla", "benchmarks", "big_models"]


@pytest.fixture(scope="module")
def own() -> SiteData:
    """Return the repository's own site."""
    return SiteData.load(ROOT)


def url(path: str) -> str:
    """Return a page's path on the site."""
    return PurePosixPath(path).with_suffix(".html").as_posix()


def redirect_of(text: str, anchor: str) -> str:
    """Return where a redirecting page leads with this anchor."""
    (found,) = re.findall(r"Object\.entries\((\{.*?\})\)", text)
    (rest,) = re.findall(r'\?\? "([^"]*)"', text)
    return str(json.loads(found).get(anchor, rest))


def targets(site: SiteData) -> Iterator[str]:
    """Yield the target of every old address."""
    for page in site.old_pages.values():
        yield from filter(None, [page.target, *page.anchors.values()])


class TestOwnSite:
    """The repository's own redirects."""

    def test_every_known_address_leads_to_an_existing_section(self, own: SiteData) -> None:
        """Check pages and anchors; an unlisted anchor leads to its page's target."""
        assert {name.partition("#")[0] for name in KNOWN} >= {*MENTIONED}
        files = redirects.files(own, url)
        places = {page.path.removeprefix("docs/"): page.anchors for page in own.pages}
        places["concepts/glossary.md"] = frozenset(own.tree.glossary)
        by_url = {url(path): anchors for path, anchors in places.items()}
        for known in KNOWN:
            name, _, anchor = known.partition("#")
            page, _, place = redirect_of(files[f"{name}.html"], anchor).partition("#")
            assert page in by_url, known
            assert not place or place in by_url[page], known

    def test_a_methods_record_redirects_its_old_anchor(self, own: SiteData) -> None:
        """Check the target of an old anchor that a method's record lists."""
        method = own.tree.methods["activation-checkpointing"]
        page = own.old_pages["perf_train_gpu_one"]
        assert page.anchors["gradient-checkpointing"] == method.section

    def test_anchors_of_a_split_page_lead_to_its_parts(self, own: SiteData) -> None:
        """Check that only the anchors that moved lead to the new page."""
        page = own.old_pages["training/single-gpu"]
        assert page.target == ""
        assert page.anchors["compile"] == "training/single-gpu/speed.md#compile"
        assert "out-of-memory" not in page.anchors

    def test_each_planned_guide_is_listed_on_the_start_page(self, own: SiteData) -> None:
        """Check that each has a link to its section, and that old addresses lead to sections that exist."""
        guides = planned.guides(own)
        leads = {old.target for old in own.old_pages.values()}
        assert {lead for lead in leads if lead.startswith(planned.PAGE)} <= {*guides}
        lines = start_page.with_parts(["[](start:planned)"], own, PageContext("index.md"))
        assert lines == [f"- [{title}]({path})" for path, title in guides.items()]

    def test_no_old_address_is_the_address_of_a_page(self, own: SiteData) -> None:
        """Check that no redirect would overwrite a page."""
        assert not {f"{name}.md" for name, page in own.old_pages.items() if page.target} & {*_sources(own)}


def _sources(site: SiteData) -> Iterator[str]:
    return (page.path.removeprefix("docs/") for page in site.pages)


def small(site: SiteData, old: dict[str, OldPage]) -> SiteData:
    """Return the small tree with these old addresses."""
    return replace(site, old_pages=old)


class TestRedirectPages:
    """The HTML of redirecting pages."""

    def test_redirects_without_scripts(self, site: SiteData) -> None:
        """Check the refresh, the canonical address, the visible link and noindex."""
        text = redirects.files(small(site, {"old": OldPage("training/guide.md#place")}), url)["old.html"]
        assert '<meta http-equiv="refresh" content="0; url=training/guide.html#place">' in text
        assert '<link rel="canonical" href="training/guide.html#place">' in text
        assert '<a href="training/guide.html#place">' in text
        assert '<meta name="robots" content="noindex">' in text
        assert "<h1>This page has moved</h1>" in text

    def test_links_from_a_folder_are_relative(self, site: SiteData) -> None:
        """Relative links work from a file system."""
        text = redirects.files(small(site, {"a/b": OldPage("training/guide.md", {"x": "index.md#y"})}), url)["a/b.html"]
        assert redirect_of(text, "x") == "../index.html#y"
        assert redirect_of(text, "other") == "../training/guide.html"

    def test_titles_are_escaped(self, site: SiteData) -> None:
        """Check a title with markup."""
        page = replace(site.pages[0], path="docs/odd.md", meta={"title": "a & b"})
        odd = replace(site, pages=(page,), old_pages={"old": OldPage("odd.md")})
        assert "a &amp; b" in redirects.files(odd, url)["old.html"]

    def test_an_existing_page_lists_its_moved_anchors_instead(self, site: SiteData) -> None:
        """Check that there is no redirect, and a list with the old anchors."""
        left = small(site, {"training/guide": OldPage("", {"gone": "index.md#here"})})
        assert redirects.files(left, url) == {}
        lines = redirects.with_moved(["text"], left, PageContext("training/guide.md"))
        assert "- [gone](../index.md#here){ #gone } in index.md" in lines
        assert redirects.with_moved(["text"], left, PageContext("index.md")) == ["text"]


def test_a_new_method_brings_its_old_addresses(site: SiteData) -> None:
    fields = {"id": "new", "name": "New", "symptoms": ["slow"], "section": "training/guide.md#new", "claims": {}}
    method = Method.model_validate({**fields, "was": ["old_guide", "old_guide#new"]})
    tree = replace(site.tree, methods={"new": method})
    expected = OldPage("training/guide.md#new", {"new": "training/guide.md#new"})
    assert old_pages(tree, site.pages) == {"old_guide": expected}


def test_an_ambiguous_anchor_has_no_redirect_unless_a_page_claims_it(site: SiteData) -> None:
    whole = parse("docs/whole.md", "# Whole\n")
    one = parse("docs/one.md", "---\nwas: {top: [whole]}\n---\n\n# One\n\n## Same\n\n## Own\n")
    two = parse("docs/two.md", "---\nwas: {top: [whole]}\n---\n\n# Two\n\n## Same\n")
    found = old_pages(site.tree, [whole, one, two])["whole"].anchors
    assert found == {"one": "one.md#one", "own": "one.md#own", "two": "two.md#two"}
    three = parse("docs/two.md", "---\nwas: {top: [whole], same: [whole#same]}\n---\n\n# Two\n\n## Same\n")
    assert old_pages(site.tree, [whole, one, three])["whole"].anchors["same"] == "two.md#same"


def test_anchors_are_known_on_old_pages_and_exact_on_existing_ones(site: SiteData) -> None:
    here = parse("docs/here.md", "---\nwas: {top: [gone]}\n---\n\n# Here\n\n## Place {#place}\n")
    known = resolver(site.tree, [here])
    assert all(map(known, ["here", "here#here", "here#place", "gone", "gone#anything"]))
    assert not any(map(known, ["there", "here#nowhere"]))


class TestNotFound:
    """The 404 page."""

    def test_knows_every_page_and_every_old_address(self, own: SiteData) -> None:
        """Check the title and target of each."""
        found = {name: (title, where) for name, title, where in json.loads(not_found.known(own, url))}
        assert found["perf_train_cpu"] == ("Training on a CPU", "perf_train_cpu.html")
        assert found["training/cpu"] == ("Training on a CPU", "training/cpu.html")
        assert {path.rpartition(".")[0] for path in _sources(own)} <= found.keys()

    def test_is_built_with_links_that_work_at_any_depth(self, own_root: Path, tmp_path: Path) -> None:
        """Check that links are absolute, and that the list of pages needs no scripts."""
        config = own_root / "mkdocs.yml"
        config.write_text(
            re.sub(r"(?m)^site_url:.*$", "site_url: https://example.org/below/", config.read_text("utf-8"))
        )
        assert build(own_root, tmp_path / "out").returncode == 0
        page = Page(tmp_path / "out/404.html")
        assert "/below/training/guide.html" in page.links
        loads = [load for load in page.loads if not load.startswith("https://example.org/below/")]
        assert loads
        assert all(load.startswith("/below/") for load in loads)

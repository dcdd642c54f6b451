"""Old addresses lead to what answers them today, anchors included, and nothing that was published vanishes."""

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
# The pages of the best known guide to this subject, 2021 to 2026, with the anchors of their headings.
KNOWN = (Path(__file__).parent / "old-addresses.txt").read_text("utf-8").split()
MENTIONED = ["perf_train_gpu_one", "perf_infer_gpu_one", "perf_hardware", "fsdp", "tf_xla", "benchmarks", "big_models"]


@pytest.fixture(scope="module")
def own() -> SiteData:
    """The repository's own site, read."""
    return SiteData.load(ROOT)


def url(path: str) -> str:
    """Where a page lies without folders for addresses."""
    return PurePosixPath(path).with_suffix(".html").as_posix()


def lead_of(text: str, anchor: str) -> str:
    """Where a page that sends on leads with an anchor, as its script decides."""
    (found,) = re.findall(r"Object\.entries\((\{.*?\})\)", text)
    (rest,) = re.findall(r'\?\? "([^"]*)"', text)
    return str(json.loads(found).get(anchor, rest))


def targets(site: SiteData) -> Iterator[str]:
    """Every place that an old address leads to."""
    for page in site.old_pages.values():
        yield from filter(None, [page.target, *page.anchors.values()])


class TestOwnSite:
    """What the repository itself says."""

    def test_every_known_address_leads_to_a_place_that_stands(self, own: SiteData) -> None:
        """Pages and anchors; one that nothing is said of leads where its page does."""
        assert {name.partition("#")[0] for name in KNOWN} >= {*MENTIONED}
        files = redirects.files(own, url)
        places = {page.path.removeprefix("docs/"): page.anchors for page in own.pages}
        places["concepts/glossary.md"] = frozenset(own.tree.glossary)
        by_url = {url(path): anchors for path, anchors in places.items()}
        for known in KNOWN:
            name, _, anchor = known.partition("#")
            page, _, place = lead_of(files[f"{name}.html"], anchor).partition("#")
            assert page in by_url, known
            assert not place or place in by_url[page], known

    def test_a_method_has_its_old_anchor(self, own: SiteData) -> None:
        """By its own record, wherever its section stands today."""
        method = own.tree.methods["activation-checkpointing"]
        page = own.old_pages["perf_train_gpu_one"]
        assert page.anchors["gradient-checkpointing"] == method.section

    def test_anchors_that_moved_to_a_part_lead_there(self, own: SiteData) -> None:
        """A page that was part of another one takes along its anchors, and no more."""
        page = own.old_pages["training/single-gpu"]
        assert page.target == ""
        assert page.anchors["compile"] == "training/single-gpu/speed.md#compile"
        assert "out-of-memory" not in page.anchors

    @pytest.mark.parametrize(
        ("name", "section"),
        [
            ("deepspeed", "multi-gpu"),
            ("fsdp", "multi-gpu"),
            ("perf_train_gpu_many", "multi-gpu"),
            ("perf_infer_gpu_one", "inference"),
        ],
    )
    def test_the_address_of_an_unwritten_guide_leads_to_the_notice(
        self, own: SiteData, name: str, section: str
    ) -> None:
        """And so does an anchor on it that nothing here answers."""
        text = redirects.files(own, url)[f"{name}.html"]
        assert lead_of(text, "") == lead_of(text, "deploy") == f"not-written-yet.html#{section}"
        assert "<h1>This guide is not written yet</h1>" in text

    def test_each_unwritten_guide_is_listed_on_the_start_page(self, own: SiteData) -> None:
        """With a link to its section; each section has the old addresses of its subject."""
        guides = planned.guides(own)
        assert {*(lead for old in own.old_pages.values() if (lead := old.target).startswith(planned.PAGE))} == {*guides}
        lines = start_page.with_parts(["[](start:planned)"], own, PageContext("index.md"))
        assert lines == [f"- [{title}]({path})" for path, title in guides.items()]

    def test_old_names_are_not_names_of_pages(self, own: SiteData) -> None:
        """A page that sends on would lie where a page stands."""
        assert not {f"{name}.md" for name, page in own.old_pages.items() if page.target} & {*_sources(own)}


def _sources(site: SiteData) -> Iterator[str]:
    return (page.path.removeprefix("docs/") for page in site.pages)


def small(site: SiteData, old: dict[str, OldPage]) -> SiteData:
    """The small tree with other old addresses."""
    return replace(site, old_pages=old)


class TestPagesThatSendOn:
    """Text and links of what stands at an old address."""

    def test_says_where_it_leads_without_a_script(self, site: SiteData) -> None:
        """A refresh, a canonical address, a link that is seen, and no place in an index of the web."""
        text = redirects.files(small(site, {"old": OldPage("training/guide.md#place")}), url)["old.html"]
        assert '<meta http-equiv="refresh" content="0; url=training/guide.html#place">' in text
        assert '<link rel="canonical" href="training/guide.html#place">' in text
        assert '<a href="training/guide.html#place">' in text
        assert '<meta name="robots" content="noindex">' in text
        assert "<h1>This page has moved</h1>" in text

    def test_leads_on_from_a_folder(self, site: SiteData) -> None:
        """Links are relative, so that they work from a file system."""
        text = redirects.files(small(site, {"a/b": OldPage("training/guide.md", {"x": "index.md#y"})}), url)["a/b.html"]
        assert lead_of(text, "x") == "../index.html#y"
        assert lead_of(text, "other") == "../training/guide.html"

    def test_a_title_is_no_markup(self, site: SiteData) -> None:
        """Whatever a page is called."""
        page = replace(site.pages[0], path="docs/odd.md", meta={"title": "a & b"})
        odd = replace(site, pages=(page,), old_pages={"old": OldPage("odd.md")})
        assert "a &amp; b" in redirects.files(odd, url)["old.html"]

    def test_a_page_that_stands_gets_none(self, site: SiteData) -> None:
        """It gets a list of the places that have left it, which have their old names."""
        left = small(site, {"training/guide": OldPage("", {"gone": "index.md#here"})})
        assert redirects.files(left, url) == {}
        lines = redirects.with_moved(["text"], left, PageContext("training/guide.md"))
        assert "- [gone](../index.md#here){ #gone } in index.md" in lines
        assert redirects.with_moved(["text"], left, PageContext("index.md")) == ["text"]


def test_a_method_that_is_added_brings_its_old_addresses(site: SiteData) -> None:
    """No list names it."""
    fields = {"id": "new", "name": "New", "symptoms": ["slow"], "section": "training/guide.md#new", "claims": {}}
    method = Method.model_validate({**fields, "was": ["old_guide", "old_guide#new"]})
    tree = replace(site.tree, methods={"new": method})
    expected = OldPage("training/guide.md#new", {"new": "training/guide.md#new"})
    assert old_pages(tree, site.pages) == {"old_guide": expected}


def test_two_parts_with_the_same_anchor_lead_nowhere(site: SiteData) -> None:
    """Which of them is meant, nobody has said; where one says so, it leads there."""
    whole = parse("docs/whole.md", "# Whole\n")
    one = parse("docs/one.md", "---\nwas: {top: [whole]}\n---\n\n# One\n\n## Same\n\n## Own\n")
    two = parse("docs/two.md", "---\nwas: {top: [whole]}\n---\n\n# Two\n\n## Same\n")
    found = old_pages(site.tree, [whole, one, two])["whole"].anchors
    assert found == {"one": "one.md#one", "own": "one.md#own", "two": "two.md#two"}
    three = parse("docs/two.md", "---\nwas: {top: [whole], same: [whole#same]}\n---\n\n# Two\n\n## Same\n")
    assert old_pages(site.tree, [whole, one, three])["whole"].anchors["same"] == "two.md#same"


def test_an_address_is_answered_by_what_stands_or_stood_there(site: SiteData) -> None:
    """An anchor of an old page is, whatever it is; one of a page that stands only by its own name."""
    here = parse("docs/here.md", "---\nwas: {top: [gone]}\n---\n\n# Here\n\n## Place {#place}\n")
    known = resolver(site.tree, [here])
    assert all(map(known, ["here", "here#here", "here#place", "gone", "gone#anything"]))
    assert not any(map(known, ["there", "here#nowhere"]))


class TestNotFound:
    """The page for an address at which nothing stands."""

    def test_knows_every_page_and_every_old_address(self, own: SiteData) -> None:
        """With the title of what they lead to, and where it is."""
        found = {name: (title, where) for name, title, where in json.loads(not_found.known(own, url))}
        assert found["perf_train_cpu"] == ("Training on a CPU", "perf_train_cpu.html")
        assert found["training/cpu"] == ("Training on a CPU", "training/cpu.html")
        assert {path.rpartition(".")[0] for path in _sources(own)} <= found.keys()

    def test_is_built_with_links_that_work_at_any_depth(self, own_root: Path, tmp_path: Path) -> None:
        """They begin with the path of the site's address; what there is stands in it for who runs no script."""
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

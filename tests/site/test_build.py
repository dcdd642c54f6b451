"""The built site: strict, self-contained, small and reproducible."""

import json
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from built_sites import Page, build
from headroom.site import exports
from headroom.site.exports.search_worker import WORKERS
from headroom.site.site_data import SiteData

ROOT = Path(__file__).parents[2]
MAX_PAGE_BYTES = 150_000


@pytest.fixture(scope="module")
def built(site_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the small tree."""
    out = tmp_path_factory.mktemp("site")
    done = build(site_root, out)
    assert done.returncode == 0, done.stderr
    return out


def test_every_link_and_anchor_of_every_page_leads_somewhere(built: Path) -> None:
    """Include links that MkDocs does not check; no `claim:` or `fact:` link remains."""
    pages = {path: Page(path) for path in built.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 10
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert parts.scheme == "https", link
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path}: {link}"
            assert not parts.fragment or target not in pages or parts.fragment in pages[target].ids, f"{path}: {link}"


def test_claim_links_and_snippets_reach_their_files(built: Path) -> None:
    links = Page(built / "training/guide.html").links
    assert "../claims/training/memory.html" in links
    assert "../snippets/training/clever.py" in links
    assert "https://example.org/h200" in links


def test_no_page_or_style_loads_anything_from_another_host(built: Path) -> None:
    for path in built.rglob("*.html"):
        assert not [load for load in Page(path).loads if urlsplit(load).netloc]
    for path in built.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert "url(http" not in text
        assert "url(//" not in text
        assert "@import" not in text


def test_pages_stay_small(built: Path) -> None:
    sizes = {path: path.stat().st_size for path in built.rglob("*.html")}
    assert max(sizes.values()) <= MAX_PAGE_BYTES


def test_own_scripts_stay_below_six_kilobytes(built: Path) -> None:
    ours = list((ROOT / "docs/assets/scripts").glob("*.js"))
    assert ours
    assert all(path.stat().st_size <= 6 * 1024 for path in ours)
    assert len(list((built / "assets").glob("*.js"))) == 7


def test_scripts_of_the_memory_estimates_stay_small() -> None:
    """Two pages and the lists of the method finder load them, and no other page."""
    sizes = {path.name: path.stat().st_size for path in (ROOT / "docs/assets/memory").glob("*.js")}
    assert max(sizes.values()) <= 15 * 1024
    assert sum(sizes.values()) <= 43 * 1024


def test_scripts_of_the_topology_reader_stay_small() -> None:
    """One page loads them."""
    sizes = [path.stat().st_size for path in (ROOT / "docs/assets/topology").glob("*.js")]
    assert sum(sizes) <= 44 * 1024


def test_exports_equal_recomputed_data(built: Path, site: SiteData) -> None:
    assert (built / "claims.json").read_text(encoding="utf-8") == exports.claims_json(site)
    assert json.loads(exports.claims_json(site))["claims"]
    for path, source in exports.data_files(site).items():
        assert (built / path).read_bytes() == source.read_bytes()


def test_each_page_links_to_its_markdown_version(built: Path) -> None:
    pages = [path for path in built.rglob("*.html") if path.name != "404.html"]
    for path in pages:
        assert path.with_suffix(".md").name in Page(path).links
        text = path.with_suffix(".md").read_text(encoding="utf-8")
        assert text.startswith("# ")
        assert text.endswith(f"Source: {path.relative_to(built)}\n")
    assert (built / "llms.txt").read_text(encoding="utf-8").startswith("# Headroom\n\n> ")
    assert "This page" not in (built / "search/search_index.json").read_text(encoding="utf-8")


def test_pages_link_to_their_source_file_or_record(built: Path) -> None:
    """Pages made from several records have no such link."""
    host = "https://github.com/OWNER/headroom/edit/main/"
    sources = {
        "training/guide": "docs/training/guide.md",
        "claims/training/time": "checks/registry/training/time.yml",
        "claims/index": "",
    }
    for name, source in sources.items():
        found = [link.removeprefix(host) for link in Page(built / f"{name}.html").links if link.startswith(host)]
        assert found == ([source] if source else [])


def test_no_text_of_a_record_becomes_markup(built: Path) -> None:
    """Check the head, the text and the search index."""
    for path in (built / "claims").rglob("*.html"):
        assert "<script>alert" not in path.read_text(encoding="utf-8")
    assert "<script>alert" not in (built / "search/search_index.json").read_text(encoding="utf-8")


def test_search_finds_a_claim_by_its_sentence_and_skips_its_tables(built: Path) -> None:
    index = json.loads((built / "search/search_index.json").read_text(encoding="utf-8"))
    found = [entry for entry in index["docs"] if entry["location"].startswith("claims/training/memory.html")]
    assert len(found) == 1
    assert "2.91 times less" in found[0]["text"].replace("\u00a0", " ")
    assert "batch" not in found[0]["text"]


def test_the_search_worker_of_the_site_is_the_corrected_one(built: Path) -> None:
    """With the theme's own key, lunr can merge two words, and a search that meets them finds nothing."""
    (worker,) = (built / WORKERS).glob("search.*.min.js")
    assert '.id+","}return' in worker.read_text("utf-8")


def test_two_builds_are_the_same_bytes(built: Path, site_root: Path, tmp_path: Path) -> None:
    """Both builds have the same SOURCE_DATE_EPOCH."""
    assert build(site_root, tmp_path).returncode == 0
    names = {path.relative_to(built) for path in built.rglob("*") if path.is_file()}
    assert names == {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert not [name for name in names if (built / name).read_bytes() != (tmp_path / name).read_bytes()]


def broken(root: Path, tmp_path: Path) -> str:
    """Return the output of a build that must fail."""
    done = build(root, tmp_path / "out")
    assert done.returncode != 0, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[x](claim:training.nothing)", "there is no claim `training.nothing`"),
        ("[x](fact:h200.nothing)", "there is no fact `h200.nothing`"),
        ("[x](claim:training.memory#ratio@h200)", "nothing is measured on `h200`"),
        ("[x](missing.md)", "missing.md"),
        ("[x](../index.md#nowhere)", "nowhere"),
        ('```python\n--8<-- "snippets/training/missing.py"\n```', "missing.py"),
    ],
)
def test_a_broken_link_fails_the_build(own_root: Path, tmp_path: Path, text: str, message: str) -> None:
    with (own_root / "docs/training/guide.md").open("a", encoding="utf-8") as page:
        page.write(f"\n\n{text}\n")
    assert message in broken(own_root, tmp_path)


def test_a_todo_of_a_draft_fails_the_build(own_root: Path, tmp_path: Path) -> None:
    """The marker is allowed inside code."""
    with (own_root / "docs/training/guide.md").open("a", encoding="utf-8") as page:
        page.write("\n\n`TODO(author): as code`\n\nTODO(author): the cost\n")
    claim = own_root / "checks/registry/training/memory.yml"
    claim.write_text(
        claim.read_text("utf-8").replace("that it is faster", "'TODO(author): what not'"), encoding="utf-8"
    )
    output = broken(own_root, tmp_path)
    assert "docs/training/guide.md: gaps: not written yet: the cost" in output
    assert "gaps: not written yet: what not'" in output
    assert "as code" not in output


def test_an_unreadable_record_fails_the_build(own_root: Path, tmp_path: Path) -> None:
    (own_root / "checks/registry/training/memory.yml").write_text("id: [", encoding="utf-8")
    assert "checks/registry/training/memory.yml" in broken(own_root, tmp_path)


def test_links_work_with_directory_urls(own_root: Path, tmp_path: Path) -> None:
    """The offline plugin is off, because it disables directory URLs."""
    config = own_root / "mkdocs.yml"
    text = config.read_text(encoding="utf-8")
    config.write_text(
        text.replace("use_directory_urls: false", "use_directory_urls: true").replace("  - offline\n", "")
    )
    done = build(own_root, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    links = Page(tmp_path / "out/training/guide/index.html").links
    assert "../../claims/training/memory/" in links
    assert "../../snippets/training/clever.py" in links


def test_changed_evidence_changes_the_next_build(own_root: Path, tmp_path: Path) -> None:
    assert build(own_root, tmp_path / "one").returncode == 0
    shutil.rmtree(own_root / "checks/evidence/fixed")
    done = build(own_root, tmp_path / "two")
    assert done.returncode == 0, done.stderr
    before, after = ((tmp_path / name / "claims.json").read_text(encoding="utf-8") for name in ("one", "two"))
    status = [
        {c["id"]: c for c in json.loads(text)["claims"]}["training.memory"]["standings"] for text in (before, after)
    ]
    assert [found["cpu"]["status"] for found in status] == ["supported", "unmeasured"]

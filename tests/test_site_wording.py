"""The rules find the same links in a page's source as the site renders."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import markdown
import pytest

from headroom.pages.source import parse, parse_notebook
from headroom.records import notebooks
from headroom.site.notebook_page import markdown as shown

ROOT = Path(__file__).parents[1]
SCHEMES = ("claim:", "fact:", "calc:", "<calc:")
CLEAN = ROOT / "tests" / "rule_cases" / "clean"
# The extensions of mkdocs.yml that affect links; those for code fences and our own do not.
EXTENSIONS = [
    "admonition",
    "attr_list",
    "footnotes",
    "md_in_html",
    "tables",
    "toc",
    "pymdownx.details",
    "pymdownx.highlight",
    "pymdownx.inlinehilite",
    "pymdownx.superfences",
    "pymdownx.tabbed",
]


class Rendered(HTMLParser):
    """The links to claims, facts and formulas of a rendered page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: Counter[tuple[str, str | None]] = Counter()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect a link."""
        found = dict(attrs)
        href = found.get("href") or ""
        if tag == "a" and href.startswith(SCHEMES):
            self.links[href, found.get("title")] += 1


def rendered(text: str) -> Counter[tuple[str, str | None]]:
    """Return the claim, fact and formula links that the site renders for this source."""
    _, _, body = text.partition("\n---\n") if text.startswith("---\n") else ("", "", text)
    options = {"pymdownx.tabbed": {"alternate_style": True}}
    return Rendered(markdown.markdown(body, extensions=EXTENSIONS, extension_configs=options)).links


NOTEBOOKS = sorted([*(ROOT / "docs").rglob("*.ipynb"), *(CLEAN / "docs").rglob("*.ipynb")])
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *(CLEAN / "docs").rglob("*.md")])


class TestSiteShowsTheSameLinks:
    """Rules read the source and readers the site; both must see the same links."""

    @pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
    def test_on_every_page(self, path: Path) -> None:
        """Compare targets and titles."""
        text = path.read_text("utf-8")
        found = [link for link in parse("docs/page.md", text).links if link.href.startswith(SCHEMES)]
        assert Counter((link.href.strip("<>"), link.title) for link in found) == rendered(text)

    @pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(ROOT)))
    def test_on_every_notebook(self, path: Path) -> None:
        """Outputs must have no such links, because the rules do not read outputs."""
        text = path.read_text("utf-8")
        page = parse_notebook("docs/page.ipynb", text)
        found = [link for link in page.links if link.href.startswith(SCHEMES)]
        site = rendered(shown(notebooks.parse(text), path.name))
        assert Counter((link.href, link.title) for link in found) == site

    def test_the_extensions_are_those_of_the_site(self) -> None:
        """Exempt those for fences and our own."""
        section = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nmarkdown_extensions:\n")[2].partition("\n\n")[0]
        listed = re.findall(r"^  - ([\w.]+)", section, re.MULTILINE)
        assert set(listed) - {"pymdownx.snippets", "headroom"} == set(EXTENSIONS)

    def test_the_clean_tree_has_links_of_every_form(self) -> None:
        """Otherwise the comparison would pass without links."""
        assert rendered((CLEAN / "docs/training/gpu.md").read_text("utf-8")).total() == 24

    @pytest.mark.parametrize(
        "text",
        ["[x][y]\n\n[y]: claim:a.b\n", "[x](<claim:a.b>)\n", "[x](claim:a.b 'flips')\n", "<a href='claim:a.b'>x</a>\n"],
    )
    def test_an_unknown_form_of_link_is_noticed(self, text: str) -> None:
        """Links that the rules cannot read make the two lists differ."""
        found = Counter(
            (link.href, link.title) for link in parse("docs/page.md", text).links if link.href.startswith("claim:")
        )
        assert found != rendered(text)

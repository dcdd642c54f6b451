"""The links that the rules find in a page's source are those that a reader sees on the site."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import markdown
import pytest

from headroom.prose.pages import parse, parse_notebook
from headroom.records import notebooks
from headroom.site.notebook_page import markdown as shown

ROOT = Path(__file__).parents[1]
SCHEMES = ("claim:", "fact:", "calc:", "<calc:")
CLEAN = ROOT / "tests" / "canaries" / "clean"
# Those of mkdocs.yml that decide what is a link; the snippets inside fences and our own extension do not.
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
        """Note a link."""
        found = dict(attrs)
        href = found.get("href") or ""
        if tag == "a" and href.startswith(SCHEMES):
            self.links[href, found.get("title")] += 1


def rendered(text: str) -> Counter[tuple[str, str | None]]:
    """The links to claims, facts and formulas that the site shows of a page with this source."""
    _, _, body = text.partition("\n---\n") if text.startswith("---\n") else ("", "", text)
    options = {"pymdownx.tabbed": {"alternate_style": True}}
    return Rendered(markdown.markdown(body, extensions=EXTENSIONS, extension_configs=options)).links


NOTEBOOKS = sorted([*(ROOT / "docs").rglob("*.ipynb"), *(CLEAN / "docs").rglob("*.ipynb")])
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *(CLEAN / "docs").rglob("*.md")])


class TestSiteShowsTheSameLinks:
    """Rules look at the source and readers at the site: both must see the same links."""

    @pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
    def test_on_every_page(self, path: Path) -> None:
        """What is found in the source is what Python-Markdown renders, titles included."""
        text = path.read_text("utf-8")
        found = [link for link in parse("docs/page.md", text).links if link.href.startswith(SCHEMES)]
        assert Counter((link.href.strip("<>"), link.title) for link in found) == rendered(text)

    @pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(ROOT)))
    def test_on_every_notebook(self, path: Path) -> None:
        """Also none in an output, where the rules do not look."""
        text = path.read_text("utf-8")
        page = parse_notebook("docs/page.ipynb", text)
        found = [link for link in page.links if link.href.startswith(SCHEMES)]
        site = rendered(shown(notebooks.parse(text), path.name))
        assert Counter((link.href, link.title) for link in found) == site

    def test_with_the_extensions_of_the_site(self) -> None:
        """What is rendered with here is what mkdocs.yml lists, but for what fills fences and our own extension."""
        section = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nmarkdown_extensions:\n")[2].partition("\n\n")[0]
        listed = re.findall(r"^  - ([\w.]+)", section, re.MULTILINE)
        assert set(listed) - {"pymdownx.snippets", "headroom"} == set(EXTENSIONS)

    def test_there_is_something_to_compare(self) -> None:
        """The clean tree alone renders links of every form."""
        assert rendered((CLEAN / "docs/training/gpu.md").read_text("utf-8")).total() == 16

    @pytest.mark.parametrize(
        "text",
        ["[x][y]\n\n[y]: claim:a.b\n", "[x](<claim:a.b>)\n", "[x](claim:a.b 'flips')\n", "<a href='claim:a.b'>x</a>\n"],
    )
    def test_another_way_to_write_a_link_would_be_noticed(self, text: str) -> None:
        """A link in a form that the rules do not read makes the two differ, so it cannot pass them by."""
        found = Counter(
            (link.href, link.title) for link in parse("docs/page.md", text).links if link.href.startswith("claim:")
        )
        assert found != rendered(text)

"""Notebooks on the site: Markdown, code and stored outputs."""

from pathlib import Path

import pytest

from built_sites import Page, build
from headroom.records import notebooks
from headroom.site.notebook_page import markdown


def cell(kind: str, source: str, *outputs: dict[str, object], tags: tuple[str, ...] = ()) -> dict[str, object]:
    """Return one cell of a notebook's JSON."""
    found: dict[str, object] = {"cell_type": kind, "id": "x", "metadata": {"tags": list(tags)} if tags else {}}
    found |= {"source": source.splitlines(keepends=True)}
    return found | ({"execution_count": None, "outputs": list(outputs)} if kind == "code" else {})


def notebook(*cells: dict[str, object]) -> str:
    """Return the text of a notebook about the small tree's CPU."""
    named = [each | {"id": f"cell-{i}"} for i, each in enumerate(cells)]
    meta = {"title": "Every byte", "description": "Counted", "hardware": ["cpu"]}
    return notebooks.dumps({"cells": named, "metadata": {"headroom": meta}, "nbformat": 4, "nbformat_minor": 5})


def shown(*cells: dict[str, object]) -> str:
    """Return a notebook's Markdown."""
    return markdown(notebooks.parse(notebook(*cells)), "page.ipynb")


class TestMarkdown:
    """The conversion of a notebook."""

    def test_text_code_and_outputs_keep_their_order(self) -> None:
        """Code and outputs become fences."""
        printed = {"output_type": "stream", "name": "stdout", "text": ["2\n", "3\n"]}
        text = shown(cell("markdown", "# One"), cell("code", "print(2)", printed), cell("raw", "no"), cell("code", ""))
        assert "\n# One\n\n```python\nprint(2)\n```\n\n``` { .text .output }\n2\n3\n```\n\n<p" in text

    def test_front_matter_comes_from_the_metadata(self) -> None:
        """MkDocs must be able to read it."""
        assert shown().startswith('---\n{"description": "Counted", "hardware": ["cpu"], "title": "Every byte"}\n---\n')

    @pytest.mark.parametrize(
        ("data", "text"),
        [
            ({"text/markdown": ["| a |\n", "|---|\n"]}, "| a |\n|---|"),
            ({"text/html": "<svg>\n\n<g/></svg>"}, "<svg>\n<g/></svg>"),
            ({"image/svg+xml": ["<svg/>"]}, "<svg/>"),
            ({"text/plain": ["5"]}, "``` { .text .output }\n5\n```"),
            ({"text/plain": "```"}, "```` { .text .output }\n```\n````"),
        ],
    )
    def test_outputs_keep_their_type(self, data: dict[str, object], text: str) -> None:
        """Cases: Markdown, SVG, and text with backticks."""
        assert f"\n\n{text}\n\n" in shown(cell("code", "x", {"output_type": "display_data", "data": data}))

    def test_tagged_code_is_folded(self) -> None:
        """Its outputs stay visible."""
        printed = {"output_type": "stream", "name": "stdout", "text": "2"}
        text = shown(cell("code", "a\n\nb", printed, tags=("folded",)))
        assert '??? example "Code"\n\n    ```python\n    a\n\n    b\n    ```\n\n``` { .text' in text


@pytest.mark.slow
class TestBuilt:
    """Notebooks in a built site."""

    @pytest.fixture
    def page(self, own_root: Path, tmp_path: Path) -> Path:
        """Return a built page of a notebook that another page links to."""
        words = (
            "# Every byte\n\nClever [keeps less](claim:training.memory), and the H200 has [141](fact:h200.memory) GB.\n"
            "Read [the guide](../training/guide.md).\n\n## Parts {#parts}\n"
        )
        printed = {"output_type": "stream", "name": "stdout", "text": ["2\n"]}
        (own_root / "docs/concepts").mkdir()
        (own_root / "docs/concepts/bytes.ipynb").write_text(
            notebook(cell("markdown", words), cell("code", "1+1", printed))
        )
        with (own_root / "docs/training/guide.md").open("a") as guide:
            guide.write("\nSee [the parts](../concepts/bytes.ipynb#parts).\n")
        config = own_root / "mkdocs.yml"
        config.write_text(config.read_text().replace("nav: [index.md,", "nav: [index.md, concepts/bytes.ipynb,"))
        done = build(own_root, tmp_path / "out")
        assert done.returncode == 0, done.stderr
        return tmp_path / "out/concepts/bytes.html"

    def test_links_of_a_notebook_are_resolved(self, page: Path) -> None:
        """Check claims, facts, other pages and the notebook file."""
        links = Page(page).links
        assert {"../claims/training/memory.html", "https://example.org/h200", "../training/guide.html"} <= set(links)
        assert "bytes.ipynb" in links
        assert (page.parent / "bytes.ipynb").is_file()
        assert 'class="badge badge-supported"' in page.read_text("utf-8")

    def test_other_pages_link_to_its_anchors(self, page: Path) -> None:
        """Links lead to the page, not to the source."""
        assert "../concepts/bytes.html#parts" in Page(page.parents[1] / "training/guide.html").links
        assert "parts" in Page(page).ids

    def test_title_and_description_come_from_the_metadata(self, page: Path) -> None:
        """Check the head and the navigation."""
        text = page.read_text("utf-8")
        assert "<title>Every byte - Headroom</title>" in text
        assert '<meta name="description" content="Counted">' in text

    def test_an_unknown_claim_fails_the_build(self, own_root: Path, tmp_path: Path) -> None:
        """The rule is the same as on other pages."""
        (own_root / "docs/bytes.ipynb").write_text(notebook(cell("markdown", "[x](claim:training.nothing)")))
        done = build(own_root, tmp_path / "out")
        assert done.returncode != 0
        assert "there is no claim `training.nothing`" in done.stderr

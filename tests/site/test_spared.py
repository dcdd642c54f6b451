"""What the renderer is spared shows nowhere: every page is what it would be without."""

import markdown
import pytest
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from pymdownx.highlight import Highlight

from headroom.site import spared

PLOT = '<figure class="plot" data-search-exclude>\n<svg><title>x *y* & z</title>\n\n<g/></svg>\n</figure>'
EXTENSIONS = [
    "tables",
    "md_in_html",
    "attr_list",
    "pymdownx.highlight",
    "pymdownx.inlinehilite",
    "pymdownx.superfences",
]
OPTIONS = {"pymdownx.highlight": {"anchor_linenums": False, "line_spans": "L"}}


class Spared(markdown.Extension):
    """Everything that is spared."""

    def extendMarkdown(self, md: markdown.Markdown) -> None:  # noqa: N802 - the name that Python-Markdown calls
        """As the site's extension does it."""
        md.preprocessors.register(spared.Plots(md), "plots", 22)
        md.treeprocessors.register(spared.PlainTexts(md), "plain", 21)
        spared.highlight_once(md)


def without(text: str) -> str:
    """A page as Python-Markdown alone renders it."""
    return markdown.markdown(text, extensions=EXTENSIONS, extension_configs=OPTIONS)


def rendered(text: str) -> str:
    """A page as the site renders it."""
    return markdown.markdown(text, extensions=[*EXTENSIONS, Spared()], extension_configs=OPTIONS)


@pytest.mark.parametrize(
    "text",
    [
        "Plain, as 1.5 of it: so.",
        "*a* **b** `c` [d](e) <i>f</i> &amp; \\* ![g](h) <https://i.org> <!-- j --> two  \nlines",
        "| a | *b* |\n| --- | --- |\n| c_d_e | f, g |\n| f, g | `h` |",
        "- one\n- two *three*\n\n    text & text\n\n# Head { #here }",
        "`#!python x = 1` and `y`",
        "```python\nx = 1\n```\n\n```python\nx = 1\n```\n\n```python hl_lines='1' title='a *title*'\nx = 1\n```",
        "```nothing\n<x> & y\n```\n\n    indented <code>",
        f"```html\n{PLOT}\n```",
    ],
)
def test_a_page_is_what_it_was(text: str) -> None:
    """Also when it is rendered a second time."""
    assert rendered(text) == without(text)
    assert rendered(text) == without(text)


def test_a_plot_is_taken_as_it_is() -> None:
    """Nothing in it is parsed, and what stands around it is."""
    assert rendered(f"*before*\n\n{PLOT}\n\n*after*") == f"<p><em>before</em></p>\n{PLOT}\n<p><em>after</em></p>"


def test_the_same_code_is_highlighted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its lines have the same names, which they have not in another place of a page."""
    spared._Once.made.clear()
    asked = []
    highlight = Highlight.highlight

    def counted(self: Highlight, src: str, *args: object, **options: object) -> object:
        asked.append(src)
        return highlight(self, src, *args, **options)

    monkeypatch.setattr(Highlight, "highlight", counted)
    first = rendered("```python\nx = 1\n```\n\n```python\nx = 1\n```")
    assert asked == ["x = 1"] * 2
    assert 'id="L-0-1"' in first
    assert 'id="L-1-1"' in first
    assert rendered("```python\nx = 1\n```\n\n```python\nx = 1\n```") == first
    assert len(asked) == 2
    rendered("```python\nx = 2\n```\n\n```text\nx = 1\n```")
    assert asked[2:] == ["x = 2", "x = 1"]


def test_texts_without_marks_are_not_looked_into() -> None:
    """Those with one are, also where another set of patterns has seen them as plain."""

    class Seen(Treeprocessor):
        found: dict[str, bool]

        def run(self, root: object) -> None:
            self.found = {each.text: isinstance(each.text, AtomicString) for each in root.iter() if each.text}

    class Bare(Spared):
        def extendMarkdown(self, md: markdown.Markdown) -> None:  # noqa: N802 - as above
            super().extendMarkdown(md)
            md.treeprocessors.register(seen, "seen", 20.5)

    seen = Seen()
    markdown.markdown("Plain, so.\n\nWith *a* mark\n\nWith ==x==", extensions=[Bare()])
    assert seen.found["Plain, so."]
    assert not seen.found["With *a* mark"]
    assert seen.found["With ==x=="]
    markdown.markdown("With ==x==", extensions=["pymdownx.mark", Bare()])
    assert not seen.found["With ==x=="]

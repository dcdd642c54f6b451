"""Page weight: deferred scripts, and no needless elements in code."""

import re
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from headroom.site import code_tokens, page_template

ASSETS = Path(__file__).parents[2] / "docs/assets"
STYLE = ASSETS / "style/colours.css"


def test_every_external_script_is_deferred() -> None:
    """Inline scripts stay as they are."""
    theme = """{% block libs %}<script src="a.js"></script>{% endblock %}<script>now()</script>
{% block scripts %}<script src="b.js"></script><script src="c.js"></script>{% endblock %}"""
    loader = DictLoader({"base.html": theme, page_template.NAME: page_template.template()})
    environment = Environment(loader=loader)  # noqa: S701 - as MkDocs makes it
    environment.filters["url"] = str
    page = environment.get_template(page_template.NAME).render()
    assert re.findall(r"<script[^>]*>", page) == [
        '<script defer src="a.js">',
        "<script>",
        '<script defer src="b.js">',
        '<script defer src="c.js">',
    ]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<span class="n">lr</span><span class="o">=</span>', 'lr<span class="o">=</span>'),
        ('<span class="k">if</span><span class="w"> </span>', '<span class="k">if</span> '),
        ('<span class="n">a&lt;b</span>', "a&lt;b"),
        ('<span class="nb">print</span>', '<span class="nb">print</span>'),
        ('<span id="L-x-1"><span class="n">x</span></span>', '<span id="L-x-1">x</span>'),
    ],
)
def test_plain_names_and_spaces_lose_their_element(html: str, expected: str) -> None:
    """No character is lost, and coloured tokens keep their element."""
    assert code_tokens.without_plain(html) == expected


def test_the_closed_form_of_memory_is_at_most_15_kilobytes() -> None:
    """The coefficients and the page's controls are files of their own."""
    sizes = [(ASSETS / "memory" / name).stat().st_size for name in ("formulas.js", "estimate.js")]
    assert 0 < sum(sizes) <= 15_000


def test_a_name_has_the_colour_of_the_code_around_it() -> None:
    colours = dict(re.findall(r"(--md-code-(?:hl-name|fg)-color): ([^;]+);", STYLE.read_text("utf-8")))
    assert colours["--md-code-hl-name-color"] == colours["--md-code-fg-color"]

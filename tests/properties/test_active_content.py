"""The source check finds every script, handler and foreign image that Python-Markdown would render."""

from html.parser import HTMLParser

import markdown
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headroom.pages.active_content import in_html, in_markdown
from hostile.test_markup import EXTENSIONS

ACTIVE = [
    "<script>a</script>", "<img src=x onerror=a>", "<svg onload=a>", "[x](javascript:a)", "![x](https://e.x/a)",
    "[x]: javascript:a\n", "{ onclick=a }", '<a href="javascript:a">b</a>', "```{.x onclick=a}",
]  # fmt: skip
MARKS = [
    "`", "``",
    "```", "~~~", "```html", "``` a b", "\n", "\n\n", "\n    ", "\n> ", "\n- ", "\\", "\\`", "[x]", " ", "a",
    "<div>", "</div>", "<div markdown>", "<summary>", "</summary>", "<!--", "-->", "<!-->", "--!>", "{", "}", "# h",
    "| a | b |\n|---|---|\n", "<span", '"', "'", ">", "<", "]", "[", "(", ")", "!", "[^1]", "[^1]: ", '!!! note "', "$",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from([*ACTIVE, *MARKS]), max_size=14).map("".join)
BROWSERS_RUN = ("script", "svg", "iframe")


class Acting(HTMLParser):
    """Collect the active elements of a page, as a browser parses it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an active element."""
        for name, value in attrs:
            link = "".join((value or "").split())
            runs = name.startswith("on") or (name == "href" and link.startswith("javascript:"))
            if runs or (name == "src" and link.startswith("https:")):
                self.found.append(f"{tag} {name}")
        self.found += [tag] if tag in BROWSERS_RUN else []


def acting(text: str) -> list[str]:
    """Return the active elements of a Markdown text rendered with the site's extensions; none if rendering fails."""
    reader = Acting()
    try:
        reader.feed(markdown.markdown(text, extensions=[name for name in EXTENSIONS if "snippets" not in name]))
        reader.close()
    except AssertionError:  # of Python's parser of HTML, on a declaration that is none
        return []
    return reader.found


@settings(max_examples=600)
@given(TEXTS)
def test_every_rendered_active_element_was_found(text: str) -> None:
    """Inside and outside code, fences, quotations, comments and escapes."""
    assert not acting(text) or in_markdown(text)


@pytest.mark.parametrize("text", ACTIVE[:-3])
def test_each_example_is_active_when_rendered_alone(text: str) -> None:
    """So the property above is not empty."""
    assert acting(f"{text}[x]")
    assert in_markdown(text)


@pytest.mark.parametrize(
    "text",
    [
        "`<script>` is a tag, and 1 < 2", "```html\n<script>a</script>\n```", "> ```html\n> <b onclick=a>\n> ```",
        "<div class='a' markdown>\n\nb\n\n</div>", "[a](b.md#c) [d](https://e.org) <https://e.org> [f](claim:g.h)",
        "# A {#b .c}", "![a drawing](assets/a.svg){ width=20 }", "a<br>b<sup>2</sup>", "<!-- no-claim: misread -->",
        '```python title="a"\nx = {"onclick": 1}\n```',
    ],
)  # fmt: skip
def test_harmless_markup_passes(text: str) -> None:
    assert in_markdown(text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<iframe src='a'>", "the tag `<iframe>`"), ("<object data='a'>", "the tag `<object>`"),
        ("<embed src='a'>", "the tag `<embed>`"), ("<base href='https://e.org'>", "the tag `<base>`"),
        ("<meta http-equiv='refresh'>", "the tag `<meta>`"), ("<form action='a'>", "the tag `<form>`"),
        ("<link rel='stylesheet'>", "the tag `<link>`"), ("<style>a{b:url(c)}</style>", "the tag `<style>`"),
        ("<div>", "has no attribute `markdown`"), ("<span style='a:url(b)'>", "loads a file or covers"),
        ("<a href='data:text/html,a'>b</a>", "links to `data:`"), ("[a](vbscript:b)", "links to `vbscript:`"),
        ("[a](java\nscript:b)", "links to `javascript:`"), ("![a](//e.org/b.png)", "from another host"),
        ("![a][b]", "cannot be parsed"), ("<!DOCTYPE a>", "begins HTML"), ("<summary>\na</summary>", "not closed on"),
        ("<b name='c'>", "the attribute `name`"), (f"[a](b{'&#9;' * 300}:c)", "more than 1000"),
    ],
)  # fmt: skip
def test_active_content_is_named(text: str, message: str) -> None:
    """By its tag, attribute or scheme."""
    assert [finding.message for finding in in_markdown(text) if message in finding.message]


@pytest.mark.parametrize(
    "text",
    [
     "<svg><a xlink:href='javascript:a'/></svg>",
     "<svg><use href='https://e.org/a.svg#b'/></svg>", "<svg><animate/></svg>",
     "<svg><rect fill='url(https://e.org/a.svg#b)'/></svg>", "<svg><foreignObject/></svg>", "`<script>a</script>`"],
)  # fmt: skip
def test_drawings_of_notebooks_contain_only_shapes(text: str) -> None:
    assert in_html(text)

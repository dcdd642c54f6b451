"""Tables that are too wide for a phone get labels; others stay as they are."""

import pytest
from markdown import Markdown

from headroom.site.markdown_extension import HeadroomExtension

SHORT = "| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n"


def rendered(text: str) -> str:
    """Return the HTML of a table in Markdown."""
    return Markdown(extensions=["tables", "md_in_html", HeadroomExtension()]).convert(text)


@pytest.mark.parametrize(
    "text",
    [
        "| method | before → after | interval | blocks | machine |\n|---|---|---|---|---|\n| x | 1 | 2 | 3 | 4 |\n",
        f"| a | `{'x' * 40}` |\n|---|---|\n| 1 | 2 |\n",
        f"| a | b |\n|---|---|\n| 1 | {'many words ' * 20} |\n",
        f'| a | b |\n|---|---|\n| 1 | <span class="badge">{"x" * 40}</span> |\n',
    ],
    ids=["many columns", "a long word", "prose", "a long word in HTML"],
)
def test_wide_table_becomes_cards(text: str) -> None:
    assert "<table data-cards" in rendered(text)
    assert "<table data-cards" in rendered(f'<div class="answers" markdown>\n\n{text}\n</div>')


def test_narrow_table_is_unchanged() -> None:
    assert "<table>" in rendered(SHORT)
    assert "data-l" not in rendered(SHORT)


def test_label_is_the_header_of_the_column_and_words_in_the_first_cell_have_none() -> None:
    """A first cell without words needs its header, because it cannot be the title of a card."""
    wide = f"| case | {'x' * 40} | |\n|---|---|---|\n| one | 2 | 3 |\n| 4 | 5 | 6 |\n"
    html = rendered(wide)
    assert f'<td>one</td>\n<td data-l="{"x" * 40}">2</td>\n<td>3</td>' in html
    assert f'<td data-l="case">4</td>\n<td data-l="{"x" * 40}">5</td>\n<td>6</td>' in html


def test_label_has_the_characters_of_entities_and_no_tag() -> None:
    head = f"a&#95;b &amp; \\*c <b>d</b> {'x' * 40}"
    html = rendered(f"| case | {head} |\n|---|---|\n| one | 2 |\n")
    assert f'<td data-l="a_b &amp; *c d {"x" * 40}">2</td>' in html

"""Calculated figures on the site: the formula with its numbers, in HTML and in plain Markdown."""

import logging
from xml.etree import ElementTree as ET

import markdown
import pytest

from headroom.site.as_markdown import plain
from headroom.site.context import PageContext, SiteData
from headroom.site.markdown_extension import HeadroomExtension

PAGE = PageContext("training/guide.md", ("cpu",))
LET = "<!-- let: P = 1235814400 parameter -->\n"


def rendered(site: SiteData, text: str) -> ET.Element:
    """A page as the elements that the site makes of it."""
    ours = HeadroomExtension(site=site, page=lambda: PAGE)
    html = markdown.markdown(text, extensions=["tables", "pymdownx.details", "pymdownx.superfences", ours])
    return ET.fromstring(f"<div>{html}</div>")  # noqa: S314 - our own output


def titles(root: ET.Element) -> list[str]:
    """What is shown of each calculated figure on hover and focus."""
    return [each.get("title", "") for each in root.iter("abbr")]


def test_a_figure_shows_its_formula_and_the_keyboard_reaches_it(site: SiteData) -> None:
    """It keeps its text, and leads nowhere."""
    root = rendered(site, LET + "\nIt needs **[23.0 GiB](calc:20*P)**.")
    (figure,) = root.iter("abbr")
    assert (figure.text, figure.get("tabindex")) == ("23.0 GiB", "0")
    assert titles(root) == ["20 × 1,235,814,400 = 23.0 GiB"]
    assert list(root.iter("a")) == []


def test_one_formula_in_two_folds_has_the_numbers_of_each(site: SiteData) -> None:
    """The same address, another value."""
    fold = '??? "x"\n\n    <!-- let: a = {0} -->\n    [{0}](calc:a*1)\n\n'
    assert titles(rendered(site, fold.format(1) + fold.format(2))) == ["1 × 1 = 1", "2 × 1 = 2"]


def test_a_figure_stands_in_a_table(site: SiteData) -> None:
    """Emphasis around it and a formula with asterisks and parentheses change nothing."""
    root = rendered(site, LET + "\n| a | b |\n|---|---|\n| *[23.0 GiB](<calc:(12 + 8)*P>)* | [5](calc:(2*(3+2))/2) |\n")
    assert titles(root) == ["(12 + 8) × 1,235,814,400 = 23.0 GiB", "(2 × (3 + 2)) / 2 = 5"]


def test_a_let_leaves_no_trace(site: SiteData) -> None:
    """A paragraph around it stays one; in code it stays as it is."""
    root = rendered(site, "One\n<!-- let: a = 1 -->\nline [1](calc:a).\n\n`<!-- let: b = 1 -->`")
    assert [each.tag for each in root] == ["p", "p"]
    assert "let" not in "".join(root[0].itertext())
    assert "<!-- let: b = 1 -->" in "".join(root[1].itertext())


@pytest.mark.parametrize("link", ["[1](calc:Q)", "[1 s](calc:a)", "[x](calc:a)", "[1][x]\n\n[x]: calc:a"])
def test_a_figure_that_cannot_be_calculated_is_a_warning(
    site: SiteData, link: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its text is shown without a formula."""
    with caplog.at_level(logging.WARNING, "mkdocs.headroom"):
        root = rendered(site, f"<!-- let: a = 1 B -->\n\n{link}")
    assert titles(root) == []
    assert "training/guide.md" in caplog.text


def test_plain_markdown_has_the_figure_alone(site: SiteData) -> None:
    """Neither lets nor addresses."""
    text = f"{LET}\nIt needs [23.0 GiB](calc:20*P), or [24.7 GB](<calc: 20 * P>)."
    assert plain(text, site, PAGE).strip() == "It needs 23.0 GiB, or 24.7 GB."

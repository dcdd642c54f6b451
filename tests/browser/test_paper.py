"""Printed pages: folds are open, and links show their addresses."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Whether the content of each fold and tab is visible.
FOLDED = "[...document.querySelectorAll('article details > :not(summary)')].map(each => each.checkVisibility())"
BLOCKS = "[...document.querySelectorAll('article .tabbed-block')].map(each => each.checkVisibility())"
ADDRESSES = """[...document.querySelectorAll('article :is(p, li) a[href^="http"]:not(.fact)')]
  .map(each => [each.getAttribute('href'), getComputedStyle(each, '::after').content])"""


@pytest.fixture
def guide(site: Path, browser: "Browser") -> "Iterator[Page]":
    """Yield a guide in print layout."""
    page = browser.new_page()
    page.goto((site / "training/single-gpu/when-it-runs-out.html").as_uri())
    page.emulate_media(media="print")
    yield page
    page.close()


@pytest.mark.parametrize("what", [FOLDED, BLOCKS])
def test_folds_and_tabs_are_open_in_print(guide: "Page", what: str) -> None:
    assert set(guide.evaluate(what)) == {True}
    guide.emulate_media(media="screen")
    assert False in guide.evaluate(what)


def test_print_shows_the_addresses_of_external_links(guide: "Page") -> None:
    addresses = guide.evaluate(ADDRESSES)
    assert addresses
    assert all(f"({href})" in shown for href, shown in addresses)
    guide.emulate_media(media="screen")
    assert not [href for href, shown in guide.evaluate(ADDRESSES) if href in shown]

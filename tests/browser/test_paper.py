"""What a printed page shows that the screen folds away, and where its links lead."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Whether what stands below each summary is seen, and each tab.
FOLDED = "[...document.querySelectorAll('article details > :not(summary)')].map(each => each.checkVisibility())"
BLOCKS = "[...document.querySelectorAll('article .tabbed-block')].map(each => each.checkVisibility())"
ADDRESSES = """[...document.querySelectorAll('article :is(p, li) a[href^="http"]:not(.fact)')]
  .map(each => [each.getAttribute('href'), getComputedStyle(each, '::after').content])"""


@pytest.fixture
def guide(site: Path, browser: "Browser") -> "Iterator[Page]":
    """A guide as paper shows it."""
    page = browser.new_page()
    page.goto((site / "training/single-gpu/when-it-runs-out.html").as_uri())
    page.emulate_media(media="print")
    yield page
    page.close()


@pytest.mark.parametrize("what", [FOLDED, BLOCKS])
def test_what_is_folded_is_open_on_paper(guide: "Page", what: str) -> None:
    """Details and every tab; on the screen some of each are closed."""
    assert set(guide.evaluate(what)) == {True}
    guide.emulate_media(media="screen")
    assert False in guide.evaluate(what)


def test_paper_says_where_a_link_to_another_host_leads(guide: "Page") -> None:
    """The address stands behind the words; on the screen it does not."""
    addresses = guide.evaluate(ADDRESSES)
    assert addresses
    assert all(f"({href})" in shown for href, shown in addresses)
    guide.emulate_media(media="screen")
    assert not [href for href, shown in guide.evaluate(ADDRESSES) if href in shown]

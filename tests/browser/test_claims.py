"""The list of all claims in a browser: filters, address, and use without scripts."""

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ROWS = ".claim-index tbody tr"


@pytest.fixture
def page(browser: "Browser") -> "Iterator[Page]":
    """Yield a window of a browser without stored choices."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def opened(page: "Page", site: Path, state: str = "") -> "Page":
    """Open the list with a state in its address."""
    page.goto("about:blank")
    page.goto(f"{(site / 'claims/index.html').as_uri()}{state}")
    page.wait_for_function("document.querySelector('.claim-filters output').textContent")
    return page


def shown(page: "Page") -> list[str]:
    """Return the texts of the visible rows."""
    return page.locator(f"{ROWS}:visible").all_inner_texts()


def headings(page: "Page") -> list[str]:
    """Return the texts of the visible headings, without the mark of their links."""
    return [text.removesuffix("#") for text in page.locator("h2:visible").all_inner_texts()]


def address(page: "Page") -> str:
    """Return the state in the address."""
    return unquote(page.url.partition("#")[2])


def test_a_status_selects_rows_and_is_kept_in_the_address(site: Path, page: "Page") -> None:
    every = shown(opened(page, site))
    assert address(page) == ""
    page.check("[name=status][value=flips]", force=True)
    found = shown(page)
    assert 0 < len(found) < len(every)
    assert all("depends" in row for row in found)
    assert page.inner_text(".claim-filters output") == f"{len(found)} of {len(every)} claims"
    assert address(page) == "status=flips"
    assert shown(opened(page, site, "#status=flips")) == found
    page.check("[name=status][value='']", force=True)
    assert (shown(page), address(page)) == (every, "")


def test_words_find_methods_by_any_name_and_hide_the_others(site: Path, page: "Page") -> None:
    opened(page, site).fill("[name=words]", "torch_compile=true")
    assert headings(page) == ["torch.compile"]
    page.fill("[name=words]", "no such claim")
    assert (shown(page), headings(page)) == ([], [])


def test_the_status_is_chosen_by_keyboard(site: Path, page: "Page") -> None:
    opened(page, site).focus("[name=status][value='']")
    page.keyboard.press("ArrowRight")
    assert address(page) == "status=supported"
    assert all("measured" in row for row in shown(page))


def test_an_anchor_of_a_method_shows_its_rows_again(site: Path, page: "Page") -> None:
    opened(page, site, "#status=contradicted")
    assert "Muon" not in headings(page)
    page.evaluate("location.hash = 'muon'")
    page.wait_for_function("document.querySelector('#muon').getBoundingClientRect().top < 200")
    assert "Muon" in headings(page)

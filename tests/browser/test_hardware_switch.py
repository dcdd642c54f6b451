"""The hardware switch in a browser: badges and cells speak of the chosen class, and of no other as if it were that."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
GUIDE, OTHER = "training/cpu.html", "concepts/model-memory.html"
SELECT = ".hardware-switch select"
BADGES = "[...document.querySelectorAll('a[data-claim] .badge')].map(badge => badge.textContent)"


@pytest.fixture
def page(browser: "Browser") -> "Iterator[Page]":
    """A window of a browser that has kept nothing."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def opened(page: "Page", site: Path, name: str = GUIDE, state: str = "") -> list[str]:
    """The badges of a page."""
    page.goto(f"{(site / name).as_uri()}{state}")
    page.wait_for_function("window.document$ !== undefined")
    badges: list[str] = page.evaluate(BADGES)
    return badges


def test_badges_name_the_class_and_say_where_nothing_is_measured(site: Path, page: "Page") -> None:
    """A time of a CPU is none of a GPU; bytes that carry over say where they were counted."""
    own = opened(page, site)
    assert not [badge for badge in own if "H200" in badge]
    page.select_option(SELECT, "h200")
    turned = page.evaluate(BADGES)
    assert len(turned) == len(own) > 10
    assert all(badge.startswith("H200: ") for badge in turned)
    assert {badge for badge in turned if not badge.endswith("counted on a CPU")} == {"H200: no measurement yet"}
    assert "H200: counted on a CPU" in turned
    assert "an H200; the text does not" in page.inner_text(".hardware-switch [role=status]")


def test_a_cell_loses_the_figures_of_the_page_with_its_badge(site: Path, page: "Page") -> None:
    """No figure of a class stands beside the badge of another."""
    opened(page, site)
    times = "a.claim-summary[data-claim$='gpt2-step-time']"
    assert "%" in page.inner_text(times)
    assert page.get_attribute(times, "title") != "On an H200: no measurement yet."
    page.select_option(SELECT, "h200")
    assert page.inner_text(times) == "H200: no measurement yet"
    assert page.get_attribute(times, "title") == "On an H200: no measurement yet."


def test_the_choice_is_kept_and_taken_back(site: Path, page: "Page") -> None:
    """On other pages, after a reload, and until the page's own hardware is chosen again: then all is as it was."""
    html = "document.querySelector('article').innerHTML.replaceAll(/<option.*?<\\/select>/gs, '')"
    opened(page, site)
    before = page.evaluate(html)
    page.select_option(SELECT, "h200")
    opened(page, site, OTHER)
    assert page.input_value(SELECT) == "h200"
    assert all(badge.startswith("H200: ") for badge in opened(page, site))
    page.select_option(SELECT, "")
    assert page.evaluate(html) == before
    assert not [badge for badge in opened(page, site) if "H200" in badge]


def test_an_address_can_be_shared(site: Path, page: "Page") -> None:
    """A choice stands in it; opened, it counts for that page alone."""
    opened(page, site)
    page.select_option(SELECT, "cpu-amx")
    address = page.url
    assert address.endswith("?hardware=cpu-amx")
    page.evaluate("localStorage.clear()")
    page.goto(address)
    assert page.input_value(SELECT) == "cpu-amx"
    opened(page, site, OTHER)
    assert page.input_value(SELECT) == ""


def test_the_page_s_own_class_changes_nothing(site: Path, page: "Page") -> None:
    """It is what the page says already."""
    own = opened(page, site)
    assert opened(page, site, state="?hardware=cpu-avx512-bf16") == own


@pytest.mark.parametrize(
    "state", ["?hardware=nothing", "?hardware=%3Cscript%3E", "#hardware=", "?hardware=constructor"]
)
def test_hardware_that_there_is_not_is_none(site: Path, page: "Page", state: str) -> None:
    """Also what an object of the language happens to be called."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    own = opened(page, site)
    assert opened(page, site, state=state) == own
    assert errors == []


def test_it_works_by_keyboard_and_its_sentence_is_seen(site: Path, page: "Page") -> None:
    """A native control with a name; a badge that is reached by Tab shows what a pointer would see."""
    opened(page, site)
    page.focus(SELECT)
    page.keyboard.type("H2")
    assert page.input_value(SELECT) == "h200"
    assert page.evaluate(f"document.querySelector('{SELECT}').labels[0].textContent").startswith("Hardware")
    page.keyboard.press("Tab")
    while not page.evaluate("document.activeElement.matches('a[data-claim]')"):
        page.keyboard.press("Tab")
    page.locator("[role=tooltip]:visible", has_text="On an H200").wait_for()


def test_without_scripts_there_is_none(site: Path, browser: "Browser") -> None:
    """And every badge speaks of the page's own class."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / GUIDE).as_uri())
    assert not page.is_visible(SELECT)
    assert page.locator("a[data-claim] .badge").count() > 10
    context.close()

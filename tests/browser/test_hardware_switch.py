"""The hardware switch in a browser: badges and cells of the chosen class."""

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
    """Yield a window of a browser without stored choices."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def opened(page: "Page", site: Path, name: str = GUIDE, state: str = "") -> list[str]:
    """Open a page and return its badges."""
    page.goto(f"{(site / name).as_uri()}{state}")
    page.wait_for_function("window.document$ !== undefined")
    badges: list[str] = page.evaluate(BADGES)
    return badges


def test_badges_name_the_class_and_unmeasured_claims(site: Path, page: "Page") -> None:
    """Times do not carry over; carried-over bytes name the class they were counted on."""
    own = opened(page, site)
    assert not [badge for badge in own if "H200" in badge]
    page.select_option(SELECT, "h200")
    turned = page.evaluate(BADGES)
    assert len(turned) == len(own) > 10
    assert all(badge.startswith("H200: ") for badge in turned)
    assert set(turned) <= {f"H200: {word}" for word in ("not measured yet", "counted on a CPU", "depends")}
    assert "H200: not measured yet" in turned
    assert "H200: counted on a CPU" in turned
    assert "an H200; the text does not" in page.inner_text(".hardware-switch [role=status]")


def test_a_cells_figures_change_with_its_badge(site: Path, page: "Page") -> None:
    """No figure of one class is shown next to another's badge."""
    opened(page, site)
    times = "a.claim-summary[data-claim$='gpt2-step-time']"
    assert "%" in page.inner_text(times)
    assert page.get_attribute(times, "title") != "On an H200: not measured yet."
    page.select_option(SELECT, "h200")
    assert page.inner_text(times) == "H200: not measured yet"
    assert page.get_attribute(times, "title") == "On an H200: not measured yet."


def test_the_choice_is_stored_and_can_be_reset(site: Path, page: "Page") -> None:
    """It applies to other pages and after a reload."""
    html = "document.querySelector('article').innerHTML.replaceAll(/<option.*?<\\/select>| tabindex=.0./gs, '')"
    opened(page, site)
    before = page.evaluate(html)
    page.select_option(SELECT, "h200")
    opened(page, site, OTHER)
    assert page.input_value(SELECT) == "h200"
    assert all(badge.startswith("H200: ") for badge in opened(page, site))
    page.select_option(SELECT, "")
    assert page.evaluate(html) == before
    assert not [badge for badge in opened(page, site) if "H200" in badge]


def test_a_choice_in_the_address_applies_to_that_page_only(site: Path, page: "Page") -> None:
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
    own = opened(page, site)
    assert opened(page, site, state="?hardware=cpu-avx512-bf16") == own


@pytest.mark.parametrize(
    "state", ["?hardware=nothing", "?hardware=%3Cscript%3E", "#hardware=", "?hardware=constructor"]
)
def test_unknown_hardware_is_ignored(site: Path, page: "Page", state: str) -> None:
    """Include names of JavaScript object properties."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    own = opened(page, site)
    assert opened(page, site, state=state) == own
    assert errors == []


def test_the_switch_works_by_keyboard_and_focus_shows_the_sentence(site: Path, page: "Page") -> None:
    opened(page, site)
    page.focus(SELECT)
    page.keyboard.type("H2")
    assert page.input_value(SELECT) == "h200"
    assert page.evaluate(f"document.querySelector('{SELECT}').labels[0].textContent").startswith("Hardware")
    page.keyboard.press("Tab")
    while not page.evaluate("document.activeElement.matches('a[data-claim]')"):
        page.keyboard.press("Tab")
    page.locator("[role=tooltip]:visible", has_text="On an H200").wait_for()


def test_there_is_no_switch_without_scripts(site: Path, browser: "Browser") -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / GUIDE).as_uri())
    assert not page.is_visible(SELECT)
    assert page.locator("a[data-claim] .badge").count() > 10
    context.close()

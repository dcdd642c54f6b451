"""Content that is laid out late is still there for links, keyboard and screen readers."""

from typing import TYPE_CHECKING

import pytest

from templates import Template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LONG = ["training/*/", "notebook"]
_SKIPPED = """() => [...document.querySelectorAll(".highlight > pre > code > span")].filter(line =>
  line.checkVisibility() && !line.checkVisibility({contentVisibilityAuto: true})).length"""
_UNREACHED = """() => [...document.querySelectorAll('pre > code')].filter(code => code.checkVisibility()
  && (code.scrollWidth > code.clientWidth) !== (code.tabIndex === 0)).map(code => code.textContent)"""
_MOVING = "() => document.getAnimations().length"
_LAST_LINE = """() => [...document.querySelectorAll('.highlight > pre > code > span[id]')]
  .filter(line => line.closest('.highlight').offsetParent && !line.closest('details')).at(-1).id"""


@pytest.fixture
def phone(browser: "Browser") -> "Iterator[Page]":
    """Yield a phone-sized page with hover, for which alone the theme makes code focusable."""
    page = browser.new_page(viewport={"width": 360, "height": 740})
    yield page
    page.close()


@pytest.mark.parametrize("kind", LONG)
def test_code_below_the_window_is_laid_out_late(templates: dict[str, Template], phone: "Page", kind: str) -> None:
    """Opening a long page must stay fast."""
    phone.goto(templates[kind].path.as_uri())
    assert phone.evaluate(_SKIPPED) > 0


@pytest.mark.parametrize("kind", LONG)
def test_a_link_to_a_line_shows_that_line(templates: dict[str, Template], phone: "Page", kind: str) -> None:
    """It links to the page's last line, after all content above gets its real height."""
    address = templates[kind].path.as_uri()
    phone.goto(address)
    line = phone.evaluate(_LAST_LINE)
    phone.goto("about:blank")
    phone.goto(f"{address}#{line}")
    phone.wait_for_timeout(500)
    assert 0 < phone.evaluate("id => document.getElementById(id).getBoundingClientRect().top", line) < 740


@pytest.mark.parametrize("kind", LONG)
def test_code_below_the_window_can_be_focused(templates: dict[str, Template], phone: "Page", kind: str) -> None:
    """Only scrollable blocks are focusable, at any width and inside opened folds."""
    phone.goto(templates[kind].path.as_uri())
    phone.wait_for_function(f"({_UNREACHED})().length === 0")
    phone.set_viewport_size({"width": 1280, "height": 740})
    phone.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    phone.wait_for_function(f"({_UNREACHED})().length === 0")


def test_every_copy_button_has_a_unique_name(templates: dict[str, Template], phone: "Page") -> None:
    """Include buttons that appear on scrolling."""
    phone.goto(templates["notebook"].path.as_uri())
    for share in range(1, 20):
        phone.evaluate("share => scrollTo(0, document.documentElement.scrollHeight * share / 20)", share)
        phone.wait_for_timeout(100)
    names = phone.eval_on_selector_all(".md-code__nav", "all => all.map(each => each.getAttribute('aria-label'))")
    assert names == [f"Code block {i + 1}" for i in range(len(names))]
    assert len(names) > 1


def test_no_animation_runs_forever(templates: dict[str, Template], phone: "Page") -> None:
    """An endless animation would drain a phone's battery."""
    phone.goto(templates["training/*/"].path.as_uri())
    phone.wait_for_function(f"({_MOVING})() === 0", timeout=5000)


def test_the_menu_is_built_when_it_opens(templates: dict[str, Template], phone: "Page") -> None:
    """It marks the current page."""
    phone.goto(templates["training/*/"].path.as_uri())
    entry = phone.locator(".md-nav--primary label.md-nav__link--active")
    assert not entry.is_visible()
    phone.click(".menu")
    entry.wait_for(state="visible")

"""What is neither styled nor laid out before it comes into sight is there all the same for whoever needs it."""

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
    """A page as narrow as a phone, with a pointer that can hover: the theme gives code to the keyboard there alone."""
    page = browser.new_page(viewport={"width": 360, "height": 740})
    yield page
    page.close()


@pytest.mark.parametrize("kind", LONG)
def test_code_far_below_is_left_out_at_first(templates: dict[str, Template], phone: "Page", kind: str) -> None:
    """Else opening a page would cost what its code costs."""
    phone.goto(templates[kind].path.as_uri())
    assert phone.evaluate(_SKIPPED) > 0


@pytest.mark.parametrize("kind", LONG)
def test_a_link_to_a_line_shows_that_line(templates: dict[str, Template], phone: "Page", kind: str) -> None:
    """The last of the page: all that stands above it has got its true height by then."""
    address = templates[kind].path.as_uri()
    phone.goto(address)
    line = phone.evaluate(_LAST_LINE)
    phone.goto("about:blank")
    phone.goto(f"{address}#{line}")
    phone.wait_for_timeout(500)
    assert 0 < phone.evaluate("id => document.getElementById(id).getBoundingClientRect().top", line) < 740


@pytest.mark.parametrize("kind", LONG)
def test_code_is_reached_by_keyboard_before_it_was_seen(
    templates: dict[str, Template], phone: "Page", kind: str
) -> None:
    """Each block that can be scrolled and no other, in a window of any width, and within a fold that was opened."""
    phone.goto(templates[kind].path.as_uri())
    phone.wait_for_function(f"({_UNREACHED})().length === 0")
    phone.set_viewport_size({"width": 1280, "height": 740})
    phone.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    phone.wait_for_function(f"({_UNREACHED})().length === 0")


def test_every_button_beside_code_has_a_name_of_its_own_place(templates: dict[str, Template], phone: "Page") -> None:
    """Also those that come when the reader does."""
    phone.goto(templates["notebook"].path.as_uri())
    for share in range(1, 6):
        phone.evaluate("share => scrollTo(0, document.documentElement.scrollHeight * share / 6)", share)
        phone.wait_for_timeout(100)
    names = phone.eval_on_selector_all(".md-code__nav", "all => all.map(each => each.getAttribute('aria-label'))")
    assert names == [f"Code block {i + 1}" for i in range(len(names))]
    assert len(names) > 1


def test_a_page_comes_to_rest(templates: dict[str, Template], phone: "Page") -> None:
    """Nothing moves without end, not even where it cannot be seen: that would cost a phone its battery."""
    phone.goto(templates["training/*/"].path.as_uri())
    phone.wait_for_function(f"({_MOVING})() === 0", timeout=5000)


def test_the_menu_is_made_when_it_opens(templates: dict[str, Template], phone: "Page") -> None:
    """And shows where the reader is."""
    phone.goto(templates["training/*/"].path.as_uri())
    entry = phone.locator(".md-nav--primary label.md-nav__link--active")
    assert not entry.is_visible()
    phone.click(".menu")
    entry.wait_for(state="visible")

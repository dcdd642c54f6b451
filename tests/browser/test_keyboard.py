"""Keyboard use: visible focus, and access to everything that a mouse can open."""

from typing import TYPE_CHECKING

import pytest

from templates import Template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STOPS = 60
# The focused element, and whether it, its label or its container has an outline and is uncovered.
FOCUS = """() => {
  const focused = document.activeElement
  const seen = shown => {
    const style = getComputedStyle(shown), box = shown.getBoundingClientRect()
    const within = (low, high, share, end) => Math.max(low, 0) + share * (Math.min(high, end) - Math.max(low, 0))
    const onTop = [.1, .5, .9].some(x => [.1, .5, .9].some(y => {
      const top = document.elementFromPoint(
        within(box.left, box.right, x, innerWidth), within(box.top, box.bottom, y, innerHeight))
      return top && (shown.contains(top) || top.contains(shown) && top !== document.body)
    }))
    return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && onTop && box.width * box.height > 0
  }
  const labels = [...focused.labels ?? []].flatMap(label => [label, label.parentElement])
  const around = [focused.closest('li'), focused.nextElementSibling].filter(Boolean)
  const name = `${focused.tagName} ${focused.id || focused.className} ${focused.textContent.trim().slice(0, 40)}`
  return [name, [focused, ...labels, ...around].some(seen)]
}"""


@pytest.fixture
def guide(templates: dict[str, Template], browser: "Browser") -> "Iterator[Page]":
    """Yield a guide from the file system on a wide screen."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(templates["training/*/"].path.as_uri())
    page.wait_for_timeout(300)
    yield page
    context.close()


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("kind", ["index", "training/*/", "measured claim"])
def test_the_focus_is_always_visible(templates: dict[str, Template], guide: "Page", kind: str, width: int) -> None:
    """The first stops have an outline, are inside the window, uncovered, and not a trap."""
    guide.set_viewport_size({"width": width, "height": 900})
    guide.goto(templates[kind].path.as_uri())
    guide.wait_for_timeout(300)
    stops, unseen = [], []
    for _ in range(STOPS):
        guide.keyboard.press("Tab")
        if guide.evaluate("document.activeElement === document.body"):  # the end of the page
            break
        for _ in range(50):
            name, seen = guide.evaluate(FOCUS)
            if seen:
                break
            guide.wait_for_timeout(200)  # it may still be on its way into the window
        stops.append(name)
        unseen += [] if seen else [name]
    assert unseen == []
    assert len(set(stops)) > 10


def test_the_focus_stays_when_the_start_page_computes_the_largest_batch(
    templates: dict[str, Template], guide: "Page"
) -> None:
    """Scrolling to the list loads the estimator, which draws its links anew."""
    guide.goto(templates["index"].path.as_uri())
    link = guide.locator(".fit-list a").nth(2)
    words = link.inner_text()
    link.focus()
    guide.evaluate("scrollBy(0, 400)")
    guide.wait_for_function(
        "[...document.querySelectorAll('.fit-list small')].some(n => n.textContent.startsWith('up to'))"
    )
    assert guide.evaluate("document.activeElement.textContent") == words


def test_the_first_stop_skips_to_the_text(guide: "Page") -> None:
    guide.keyboard.press("Tab")
    guide.keyboard.press("Enter")
    guide.keyboard.press("Tab")
    assert guide.evaluate("document.activeElement.closest('article') !== null")


def test_search_by_keyboard(guide: "Page") -> None:
    """Keys: slash, a word, down, enter; escape closes the search."""
    guide.keyboard.press("/")
    guide.keyboard.type("memory")
    guide.wait_for_selector(".md-search-result__item a", timeout=10_000, state="attached")
    guide.keyboard.press("Escape")
    assert not guide.is_checked("#__search")
    # The theme looks 1 ms later where the focus is: a busy page would miss that it left and came back.
    guide.evaluate("new Promise(done => setTimeout(done, 50))")
    guide.keyboard.press("/")
    guide.wait_for_function("document.activeElement.matches('.md-search__input')")
    guide.wait_for_selector(".md-search-result__item a")  # seen again: an arrow before that leads nowhere
    guide.keyboard.press("ArrowDown")
    guide.wait_for_function("document.activeElement.matches('.md-search-result__link')")
    with guide.expect_navigation():
        guide.keyboard.press("Enter")
    assert "?h=" in guide.url


def test_folds_and_tabs_by_keyboard(guide: "Page") -> None:
    guide.set_viewport_size({"width": 360, "height": 900})
    guide.focus("details > summary")
    before = guide.evaluate("document.activeElement.parentElement.open")
    guide.keyboard.press("Enter")
    assert guide.evaluate("document.activeElement.parentElement.open") != before
    if guide.locator(".tabbed-set > input").count() > 1:
        guide.focus(".tabbed-set > input:checked")
        guide.keyboard.press("ArrowRight")
        assert guide.evaluate(
            "document.activeElement.checked && document.activeElement.previousElementSibling !== null"
        )
    tables = "[...document.querySelectorAll('.md-typeset__scrollwrap')]"  # those too wide for a phone are cards
    assert not guide.evaluate(f"{tables}.some(each => each.scrollWidth > each.clientWidth)")


def test_the_menu_of_a_narrow_window_by_keyboard(guide: "Page") -> None:
    """Escape closes it and returns the focus."""
    guide.set_viewport_size({"width": 360, "height": 900})
    guide.focus("button.menu")
    guide.keyboard.press("Enter")
    assert guide.get_attribute("button.menu", "aria-expanded") == "true"
    guide.keyboard.press("Escape")
    assert guide.get_attribute("button.menu", "aria-expanded") == "false"
    assert guide.evaluate("document.activeElement.matches('button.menu')")
    guide.keyboard.press("Enter")
    seen = []
    for _ in range(STOPS):
        guide.keyboard.press("Tab")
        inside, name = guide.evaluate(
            "[document.activeElement.closest('.md-nav--primary') !== null, document.activeElement.textContent.trim()]"
        )
        if not inside and seen:
            break
        if inside:
            seen.append(name)
            assert guide.evaluate(FOCUS)[1], name
    assert 1 < len(seen) < STOPS
    back = guide.locator(".md-nav--primary label.md-nav__title[for^=__nav_]:visible")
    while back.count():
        back.first.press("Enter")
    guide.locator(".md-nav--primary label.md-nav__link[for^=__nav_]:visible", has_text="Contribute").press("Enter")
    with guide.expect_navigation():
        guide.locator(".md-nav--primary a.md-nav__link:visible", has_text="Statistics").press("Enter")
    assert guide.url.endswith("statistics.html")


def test_reduced_motion_disables_animation_and_smooth_scrolling(guide: "Page") -> None:
    moving = """[...document.querySelectorAll('*')].flatMap(each => ['', '::before', '::after'].map(part => {
      const style = getComputedStyle(each, part || undefined)
      const lasting = text => Math.max(...text.split(',').map(parseFloat)) > .001
      const moves = lasting(style.transitionDuration) || lasting(style.animationDuration)
      return (moves || style.scrollBehavior === 'smooth') && each.tagName + '.' + each.className + part
    })).filter(Boolean)"""
    assert guide.evaluate(moving) == []
    guide.emulate_media(reduced_motion="no-preference")
    assert guide.evaluate(moving) != []


def test_print_shows_only_the_text(guide: "Page") -> None:
    """Header, menu and buttons are hidden; heading and tables stay."""
    guide.emulate_media(media="print")
    for part in (".md-header", ".md-sidebar--primary", ".md-search", ".md-top"):
        assert not guide.locator(part).first.is_visible(), part
    for part in ("h1", "article table"):
        assert guide.locator(part).first.is_visible(), part

"""Pages in a browser: search, use without scripts, plots on a phone, printing."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from templates import Template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

INDEX = re.compile(r"/search/search_index\.js(on)?$")


@pytest.fixture
def opened_page(browser: "Browser") -> "Iterator[Callable[..., Page]]":
    """Yield a function that opens an address in its own context."""
    contexts = []

    def open_page(address: str, **options: object) -> "Page":
        contexts.append(browser.new_context(**options))  # type: ignore[arg-type]
        page = contexts[-1].new_page()
        page.goto(address)
        page.wait_for_timeout(300)
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_search_works_from_the_file_system(site: Path, browser: "Browser") -> None:
    page = browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "index.html").as_uri())
    search(page)
    assert not [url for url in requests if not url.startswith(("file:", "data:", "blob:", "about:"))]
    page.close()


def search(page: "Page") -> None:
    """Search for a common word, and wait for results."""
    page.click("input[name=query]")
    page.keyboard.type("memory")
    page.wait_for_selector(".md-search-result__item a", timeout=10_000, state="attached")


def test_the_search_index_is_loaded_on_the_first_search(host: str, browser: "Browser") -> None:
    """A search in the address loads it at once."""
    page = browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{host}/index.html", wait_until="networkidle")
    assert not list(filter(INDEX.search, requests))
    search(page)
    assert len(list(filter(INDEX.search, requests))) == 1
    page.goto(f"{host}/claims/index.html?q=memory")
    page.wait_for_selector(".md-search-result__item a", timeout=10_000, state="attached")
    page.close()


@pytest.mark.parametrize("kind", ["measured claim", "measured swept claim", "training/*/"])
def test_pages_can_be_read_without_scripts(
    templates: dict[str, Template], opened_page: "Callable[..., Page]", kind: str
) -> None:
    """Check a claim's verdict, plot and table, and a guide."""
    page = opened_page(templates[kind].path.as_uri(), java_script_enabled=False)
    assert page.is_visible("h1")
    assert page.is_visible(".badge")


# Text, size, both ends and colours of each label of a plot.
LABELS = """[...document.querySelectorAll('figure.plot text')].map(text => {
  const box = text.getBoundingClientRect(), style = getComputedStyle(text);
  return [text.textContent, parseFloat(style.fontSize), box.left, box.right, style.fill,
          getComputedStyle(document.body).backgroundColor];
})"""


def luminance(colour: str) -> float:
    """Return a CSS colour's relative luminance by WCAG."""
    parts = [float(part) / 255 for part in re.findall(r"[\d.]+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["measured claim", "measured swept claim"])
def test_labels_of_a_plot_can_be_read_on_a_phone(
    templates: dict[str, Template], opened_page: "Callable[..., Page]", kind: str, scheme: str
) -> None:
    """Check size, clipping and contrast in both schemes."""
    page = opened_page(templates[kind].path.as_uri(), viewport={"width": 360, "height": 900}, color_scheme=scheme)
    labels = page.evaluate(LABELS)
    assert len(labels) > 3
    for text, size, left, right, *colours in labels:
        assert size >= 12, text
        assert left >= 0, text
        assert right <= 360, text
        dark, light = sorted(map(luminance, colours))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, text


def test_print_is_light_in_dark_mode(templates: dict[str, Template], opened_page: "Callable[..., Page]") -> None:
    page = opened_page(templates["measured swept claim"].path.as_uri(), color_scheme="dark")
    shades = []
    for media in ("screen", "print"):
        page.emulate_media(media=media, color_scheme="dark")  # type: ignore[arg-type]
        fill, paper = page.evaluate(LABELS)[0][-2:]
        shades.append(luminance(fill) < luminance(paper))
    assert shades == [False, True]

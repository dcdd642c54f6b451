"""The real site in a real browser, opened from the file system: light and dark, wide and narrow."""

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
PAGES = ("index", "guide", "notebook", "claims", "claim", "curve")
MAX_TRANSFERRED_BYTES, MAX_REQUESTS = 150_000, 12


def missing(reason: str) -> None:
    """On a machine of one's own a missing browser is a reason to skip; in CI it is a failure."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository's own site, built."""
    out = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--config-file",
        str(ROOT / "mkdocs.yml"),
        "--site-dir",
        str(out),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """The distribution's Chromium; playwright's own browsers are never downloaded."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        missing("no Chromium: install the package `chromium`")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield chromium
        chromium.close()


def page_path(site: Path, name: str) -> Path:
    """One page of each kind: the start, the index of claims, and the longest guide, notebook, claim and sweep."""
    patterns = {
        "index": "index.html",
        "guide": "training/*.html",
        "notebook": "concepts/model-*.html",
        "claims": "claims/index.html",
        "claim": "claims/*/*.html",
        "curve": "claims/*/*.html",
    }
    found = site.glob(patterns[name])
    if name == "curve":
        found = (path for path in found if 'class="curve"' in path.read_text("utf-8"))
    return max(found, key=lambda path: (path.stat().st_size, path))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_self_contained_quiet_and_fits(
    site: Path, browser: "Browser", name: str, width: int, scheme: str
) -> None:
    """No request to a host, no word on the console, no scrolling sideways, and colours that follow the system."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    requests: list[str] = []
    noise: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: noise.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.goto(page_path(site, name).as_uri(), wait_until="load")
    page.wait_for_timeout(300)
    assert not [url for url in requests if not url.startswith(("file:", "data:", "blob:", "about:"))]
    assert not noise
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ink, paper = page.evaluate(
        "[getComputedStyle(document.querySelector('h1')).color, getComputedStyle(document.body).backgroundColor]"
        ".map(text => text.match(/[\\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))"
    )
    assert (ink > paper) == (scheme == "dark")
    context.close()


def requests_of(site: Path, browser: "Browser", name: str) -> list[str]:
    """What a page asks for, in order."""
    page = browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(page_path(site, name).as_uri(), wait_until="load")
    page.wait_for_timeout(300)
    page.close()
    return requests


def test_a_notebook_is_no_heavier_than_a_page(site: Path, browser: "Browser") -> None:
    """It loads nothing that a guide does not load, and is small when compressed, as servers send it."""
    found, usual = (requests_of(site, browser, name) for name in ("notebook", "guide"))
    assert len(found) <= MAX_REQUESTS
    own = [url for url in found if url not in usual]
    assert own == [page_path(site, "notebook").as_uri()]
    assert len(gzip.compress(page_path(site, "notebook").read_bytes())) <= MAX_TRANSFERRED_BYTES


def test_search_works_from_the_file_system(site: Path, browser: "Browser") -> None:
    """Without a server and without a request: pages are found by a word of them."""
    page = browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.click("input[name=query]")
    page.keyboard.type("memory")
    page.wait_for_selector(".md-search-result__item a", timeout=10_000, state="attached")
    assert page.locator(".md-search-result__item").count() > 0
    assert not [url for url in requests if not url.startswith(("file:", "data:", "blob:", "about:"))]
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_tables_scroll_by_keyboard_and_regions_have_names(site: Path, browser: "Browser", name: str) -> None:
    """What the theme leaves out and our script adds."""
    page = browser.new_page()
    page.goto(page_path(site, name).as_uri())
    page.wait_for_timeout(300)
    assert page.get_attribute(".md-search", "aria-label")
    for wrap in page.query_selector_all(".md-typeset__scrollwrap"):
        assert (wrap.get_attribute("tabindex"), wrap.get_attribute("role")) == ("0", "region")
    labels = [nav.get_attribute("aria-label") for nav in page.query_selector_all(".md-code__nav")]
    assert len(set(labels)) == len(labels)
    page.close()


def test_pages_can_be_read_without_scripts(site: Path, browser: "Browser") -> None:
    """A claim's verdict, plot and table need none."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_path(site, "claim").as_uri())
    assert page.is_visible("h1")
    assert page.is_visible(".badge")
    context.close()


# The name, the size, both ends and the colours of each label of a plot.
LABELS = """[...document.querySelectorAll('figure.plot text')].map(text => {
  const box = text.getBoundingClientRect(), style = getComputedStyle(text);
  return [text.textContent, parseFloat(style.fontSize), box.left, box.right, style.fill,
          getComputedStyle(document.body).backgroundColor];
})"""


def luminance(colour: str) -> float:
    """Of a colour as a browser writes it, by the formula of WCAG."""
    parts = [float(part) / 255 for part in re.findall(r"[\d.]+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["claim", "curve"])
def test_labels_of_a_plot_can_be_read_on_a_phone(site: Path, browser: "Browser", name: str, scheme: str) -> None:
    """As large as elsewhere, none cut off, and with enough contrast in both schemes."""
    page = browser.new_page(viewport={"width": 360, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(page_path(site, name).as_uri())
    page.wait_for_timeout(300)
    labels = page.evaluate(LABELS)
    assert len(labels) > 3
    for text, size, left, right, *colours in labels:
        assert size >= 12, text
        assert left >= 0, text
        assert right <= 360, text
        dark, light = sorted(map(luminance, colours))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, text
    page.close()


def test_paper_is_light(site: Path, browser: "Browser") -> None:
    """Whoever reads in the dark prints dark ink on white paper."""
    page = browser.new_page(color_scheme="dark")
    page.goto(page_path(site, "curve").as_uri())
    page.wait_for_timeout(300)
    shades = []
    for media in ("screen", "print"):
        page.emulate_media(media=media, color_scheme="dark")  # type: ignore[arg-type]
        fill, paper = page.evaluate(LABELS)[0][-2:]
        shades.append(luminance(fill) < luminance(paper))
    assert shades == [False, True]
    page.close()

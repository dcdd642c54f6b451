"""Questions of new readers: links from the start page answer them in three clicks, with and without scripts."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from built_sites import Page as Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Questions, and the links that a reader clicks; the last one leads to the answer.
JOURNEYS = {
    "out of memory when fine-tuning on one 24 GB GPU": (
        "Out of memory: fine-tuning on one GPU",
        "What sets the peak?",
    ),
    "training is slow and the GPU is half idle": ("Too slow: fine-tuning on one GPU", "torch.compile"),
    "LoRA or full fine-tuning on this card": ("Will it fit: fine-tuning on one GPU", "LoRA"),
    "does bf16 help on my CPU": ("Too slow: fine-tuning on a CPU", "Mixed precision"),
    "which optimizer saves the most memory, and what does it cost": (
        "Out of memory",
        "Fine-tuning on one GPU",
        "A smaller optimizer step",
    ),
}
# The code blocks and badges of the section in the address, up to the next heading of its level.
SECTION = """() => {
  const heading = document.getElementById(location.hash.slice(1)), found = {code: 0, badges: 0}
  let part = heading
  while ((part = part.nextElementSibling) && part.tagName !== heading.tagName) {
    found.code += part.querySelectorAll('pre > code').length
    found.badges += part.querySelectorAll('.badge').length
  }
  return found
}"""


@pytest.fixture(params=[True, False], ids=["with scripts", "without"])
def start(request: pytest.FixtureRequest, browser: "Browser", site: Path) -> "Iterator[Page]":
    """Yield the start page on a laptop's screen."""
    context = browser.new_context(java_script_enabled=request.param, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    yield page
    context.close()


@pytest.mark.parametrize("asked", JOURNEYS)
def test_a_reader_finds_code_and_evidence(start: "Page", asked: str) -> None:
    """The section has code that can be copied and badges with links to evidence."""
    assert len(JOURNEYS[asked]) <= 3
    for name in JOURNEYS[asked]:
        with start.expect_navigation():
            start.get_by_role("main").get_by_role("link", name=name, exact=True).first.click()
    # Without page scripts the browser still evaluates the test's own.
    found = start.evaluate(SECTION)
    assert found["code"] > 0
    assert found["badges"] > 0


def test_the_first_screen_shows_problems_and_figures(start: "Page") -> None:
    """All four problems and the figures are visible without scrolling."""
    for part in (".problems > ul > li", ".figures > ul > li"):
        boxes = [each.bounding_box() for each in start.query_selector_all(part)]
        assert len(boxes) == 4
        assert all(box and box["y"] + box["height"] <= 800 for box in boxes)
    assert not start.query_selector_all(".problems .term")  # a glossary link would cover the choice


def links(path: Path) -> set[Path]:
    """Return the site's pages that a page links to."""
    found = (link.partition("#")[0] for link in Source(path).links)
    return {(path.parent / link).resolve() for link in found if link.endswith(".html") and "://" not in link}


def test_every_list_is_two_clicks_away_and_has_links(site: Path) -> None:
    """The links work without scripts."""
    lists = set((site.resolve() / "find").glob("*-one-gpu.html")) | set((site.resolve() / "find").glob("*-cpu.html"))
    first = links(site / "index.html")
    second = {target for page in first if page.is_file() for target in links(page)}
    assert lists
    assert lists <= first | second
    for page in lists:
        assert any(target.is_relative_to(site.resolve() / "training") for target in links(page)), page

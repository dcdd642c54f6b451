"""Questions of new readers: links from the start page answer them within a minute, with and without scripts."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from built_sites import Page as Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
SUBJECTS = Path(__file__).parent / "old-guide-subjects.txt"

# Questions, the list on the start page, and the method whose section answers.
JOURNEYS = {
    "out of memory when fine-tuning 8 billion parameters on a 24 GB GPU": (
        "Out of memory: fine-tuning on one GPU",
        "qlora",
    ),
    "training is slow and the GPU is half idle": ("Too slow: fine-tuning on one GPU", "compile"),
    "LoRA or full fine-tuning on this card": ("Will it fit: fine-tuning on one GPU", "lora"),
    "which optimizer saves memory, and what does it cost": ("Out of memory: fine-tuning on one GPU", "eight-bit-adam"),
    "does gradient checkpointing cost a fifth of the speed": (
        "Out of memory: fine-tuning on one GPU",
        "activation-checkpointing",
    ),
    "decoding is slow on my GPU": ("Too slow: inference on one GPU", "time-regime-inference"),
    "int4 made it slower": ("Too slow: inference on one GPU", "quantized-weights"),
    "out of memory at long context": ("Out of memory: inference on one GPU", "long-context"),
    "two GPUs no faster than one": ("Too slow: inference on several GPUs", "device-map"),
    "run it on my CPU": ("Too slow: inference on a CPU", "half-precision-inference"),
}
# Where a question is about a CPU, the section for CPUs answers. A question why something is slow ends at a figure.
ON_CPU = {"run it on my CPU"}
ENDS_AT_A_FIGURE = {"int4 made it slower", "two GPUs no faster than one"}
WORDS_PER_SECOND, SECONDS_PER_CLICK = 250 / 60, 3
# The visible words between two elements of the page; without a second one, down to the first code block.
# A reader who looks for a method reads the first column of a table, and no controls, forms or dates.
WORDS = """([from, to]) => {
  const SKIPPED = ':is(td, th):not(:first-child), nav, summary, .memory-form, .headerlink, .verified, '
    + '.hardware-switch, .tabbed-labels'
  const main = document.querySelector('main article')
  from ??= main
  to ??= [...main.querySelectorAll('pre > code')]
    .find(code => from.compareDocumentPosition(code) & Node.DOCUMENT_POSITION_FOLLOWING)
  const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT)
  let words = 0
  while (walk.nextNode()) {
    const text = walk.currentNode
    const after = from === main || from.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING
    const before = text.compareDocumentPosition(to) & Node.DOCUMENT_POSITION_FOLLOWING
    const element = text.parentElement, count = text.data.split(/\\s+/).filter(Boolean).length
    if (after && before && !element.closest(SKIPPED) && element.checkVisibility()) words += count
  }
  return words
}"""
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


def section(method: str, *, on_cpu: bool) -> str:
    """Return the address of a method's section, as its record names it."""
    record = yaml.safe_load((ROOT / f"checks/methods/{method}.yml").read_text("utf-8"))
    page, _, anchor = (record["elsewhere"]["cpu"] if on_cpu else record["section"]).partition("#")
    return f"{page.removesuffix('.md')}.html#{anchor}"


@pytest.mark.parametrize("asked", JOURNEYS)
def test_a_reader_finds_code_and_evidence_within_a_minute(start: "Page", asked: str) -> None:
    """The reader reads every word down to the link, then the section down to its code."""
    listed, method = JOURNEYS[asked]
    answer = section(method, on_cpu=asked in ON_CPU)
    main = start.get_by_role("main")
    seconds = 0.0
    for link in (
        main.get_by_role("link", name=listed, exact=True).first,
        main.locator(f'a[href$="{answer}"]').first,
    ):
        seconds += link.evaluate(f"to => ({WORDS})([null, to])") / WORDS_PER_SECOND + SECONDS_PER_CLICK
        with start.expect_navigation():
            link.click()
    heading = start.locator(f"[id='{answer.partition('#')[2]}']").element_handle()
    figure = start.locator(f"[id='{answer.partition('#')[2]}'] ~ * .badge").first
    end = figure.element_handle() if asked in ENDS_AT_A_FIGURE else None
    seconds += start.evaluate(WORDS, [heading, end]) / WORDS_PER_SECOND
    # Without page scripts the browser still evaluates the test's own.
    found = start.evaluate(SECTION)
    assert end or found["code"] > 0
    assert end or found["badges"] > 0
    assert seconds < 60, f"{seconds:.0f} s"


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


def reached_in_three_clicks(site: Path) -> set[Path]:
    """Return the pages that at most three links lead to from the start page, without scripts."""
    reached = {(site / "index.html").resolve()}
    for _ in range(3):
        reached |= {target for page in reached if page.is_file() for target in links(page)}
    return reached


def test_every_guide_is_three_clicks_away(site: Path) -> None:
    """Links without scripts reach all pages on training, inference, models and hardware."""
    guides = [
        path
        for folder in ("training", "inference", "models", "hardware")
        for path in sorted((site.resolve() / folder).rglob("*.html"))
        if "article" in path.read_text("utf-8")  # and no redirect
    ]
    assert len(guides) > 50
    reached = reached_in_three_clicks(site)
    assert [path for path in guides if path not in reached] == []


def test_every_subject_of_the_old_overviews_has_its_section_three_clicks_away(site: Path) -> None:
    """Each heading of the overviews of 2021 to 2024 has a page or a section."""
    rows = [row.split("\t") for row in SUBJECTS.read_text("utf-8").splitlines()]
    assert len(rows) > 45
    reached = reached_in_three_clicks(site)
    for address, heading in rows:
        page, _, anchor = address.partition("#")
        path = (site / page).resolve()
        assert path in reached, heading
        assert not anchor or anchor in Source(path).ids, f"{heading}: {address}"

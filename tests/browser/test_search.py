"""The search finds the right section for names, symptoms, error messages and titles on the real site."""

import html
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headroom.records import load
from headroom.site.exports.search_index import address
from search_queries import FIELD, ask, open_search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
FIRST = 3
SHARE = 0.95
MAX_INDEX_BYTES = 2_000_000
ERRORS = Path(__file__).with_name("errors.txt")


@pytest.fixture(scope="module")
def page(site: Path, browser: "Browser") -> "Iterator[Page]":
    """Yield a page from the file system after its first search."""
    found = browser.new_page()
    open_search(found, (site / "index.html").as_uri())
    yield found
    found.close()


def wanted() -> dict[str, set[str]]:
    """Return the sections that answer each name and symptom; two methods may share one."""
    found = defaultdict(set)
    for method in load(ROOT).methods.values():
        for text in (method.name, *method.aliases, *method.symptoms):
            found[text].add(address(method.section))
    return found


def errors() -> dict[str, list[str]]:
    """Return error messages and flags as libraries print them, with the places that answer each."""
    blocks = re.sub(r"(?m)^#.*\n", "", ERRORS.read_text("utf-8")).strip().split("\n\n")
    found = {text: places.split() for text, places in (block.strip().split("\n") for block in blocks)}
    assert len(found) == len(blocks)
    return found


class TestFinding:
    def test_methods_are_found_by_their_names_and_symptoms(self, page: "Page") -> None:
        """For 95 % of the texts the section must be among the first three results."""
        sections = wanted()
        answers = ask(page, sections)
        ranks = {text: answer.rank(sections[text]) for text, answer in zip(sections, answers, strict=True)}
        missed = sorted(text for text, rank in ranks.items() if rank > FIRST)
        assert len(missed) <= (1 - SHARE) * len(ranks), missed
        assert len(ranks) > 300

    def test_error_messages_and_flags_are_found(self, page: "Page") -> None:
        """Each must have an answer among the first three results."""
        places = errors()
        assert len(places) >= 30
        answers = ask(page, places)
        missed = [text for text, answer in zip(places, answers, strict=True) if answer.rank(places[text]) > FIRST]
        assert not missed

    def test_pages_are_found_by_their_titles(self, site: Path, page: "Page") -> None:
        """Check pages that people write, among the first three results."""
        pages = {found.relative_to(ROOT / "docs").with_suffix(".html") for found in (ROOT / "docs").rglob("*.md")}
        titles = {str(path): re.search(r"<h1[^>]*>(.*?)<", (site / path).read_text("utf-8")) for path in pages}
        texts = {html.unescape(title[1]): path for path, title in titles.items() if title}
        assert len(texts) == len(pages)
        ranks = {text: answer.rank([texts[text]]) for text, answer in zip(texts, ask(page, texts), strict=True)}
        assert [text for text, rank in ranks.items() if rank > FIRST] == []

    def test_the_expected_places_exist(self, site: Path) -> None:
        """Check every place in errors.txt."""
        for place in {place for places in errors().values() for place in places}:
            path, _, anchor = place.partition("#")
            assert f'id="{anchor}"' in (site / path).read_text("utf-8"), place


class TestPlannedGuides:
    @pytest.mark.parametrize("text", ["training text to speech"])
    def test_a_planned_subject_is_found(self, page: "Page", text: str) -> None:
        """It must be among the first two results, visible without scrolling."""
        (answer,) = ask(page, [text])
        pages = [links[0].partition("#")[0] for links in answer.results]
        assert "not-written-yet.html" in pages[:2]

    def test_a_search_without_results_lists_the_planned_guides(self, page: "Page") -> None:
        """The list disappears with the next results."""
        page.focus(FIELD)
        (answer,) = ask(page, ["zzqxy"])
        assert not answer.results
        box = page.locator(".md-search-result")
        box.get_by_text("No matching documents").wait_for(state="visible")
        assert box.get_by_role("link", name="Training text to speech").is_visible()
        ask(page, ["lora"])
        assert box.locator(".found-nothing").is_hidden()


class TestField:
    @pytest.mark.parametrize("key", ["/", "Control+k", "Meta+k"])
    def test_a_key_opens_the_search(self, site: Path, browser: "Browser", key: str) -> None:
        """The field has the focus and stays empty."""
        page = browser.new_page()
        page.goto((site / "index.html").as_uri())
        page.keyboard.press(key)
        page.keyboard.type("lora")
        page.wait_for_selector(".md-search-result__item a", state="attached")
        assert page.input_value(FIELD) == "lora"
        page.close()

    def test_a_text_pasted_by_mouse_is_searched(self, page: "Page") -> None:
        """There is no key event, only an input event."""
        ask(page, ["gradient accumulation"])
        page.evaluate(
            "selector => { const field = document.querySelector(selector); field.value = 'QLoRA'; "
            "field.dispatchEvent(new InputEvent('input', {bubbles: true})) }",
            FIELD,
        )
        page.wait_for_function("document.querySelector('.md-search-result__item').textContent.includes('QLoRA')")

    def test_a_result_shows_the_best_section(self, page: "Page") -> None:
        """The theme would fold all sections if the page's title matches."""
        (answer,) = ask(page, ["Train on a single GPU"])
        assert answer.results[0][0] == "training/single-gpu.html"
        assert all(len(links) > 1 for links in answer.results if links[0].startswith("training/single-gpu"))

    def test_query_operators_are_treated_as_text(self, page: "Page") -> None:
        """In lunr a minus excludes a word, and two are an error."""
        for text in ("--bf16", "-bf16", "+bf16", "bf16~", "bf16^", "text:bf16", '"bf16'):
            assert ask(page, [text])[0].results, text


def test_the_index_is_small(site: Path) -> None:
    """The first search downloads all of it."""
    assert (site / "search/search_index.json").stat().st_size <= MAX_INDEX_BYTES

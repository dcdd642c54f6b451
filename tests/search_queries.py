"""Search the built site in a browser, as a reader does."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
FIELD = ".md-search__input"
# Put each text into the field, send a keyup, and wait for the next change of the list. Folded links do not count.
_ASK = """async texts => {
  const input = document.querySelector('.md-search__input'), box = document.querySelector('.md-search-result')
  const asked = []
  for (const text of texts) {
    const start = performance.now()
    const changed = new Promise(resolve => new MutationObserver((_, all) => { all.disconnect(); resolve() })
      .observe(box, {childList: true, subtree: true, characterData: true}))
    input.value = text
    input.dispatchEvent(new KeyboardEvent('keyup'))
    await Promise.race([changed, new Promise(resolve => setTimeout(resolve, 5000))])
    const spent = performance.now() - start
    await new Promise(resolve => setTimeout(resolve, 5))
    const results = [...box.querySelectorAll('.md-search-result__item')].slice(0, 10).map(result =>
      [...result.querySelectorAll('a')].filter(link => !link.closest('details')).map(link => decodeURI(link.href)))
    asked.push([results, spent])
  }
  return asked
}"""


@dataclass(frozen=True)
class Answer:
    """The results of one query: each one's links, and the time it took."""

    results: tuple[tuple[str, ...], ...]
    milliseconds: float

    def rank(self, places: Iterable[str]) -> float:
        """Return the index of the first result with a link to one of these places; infinity if none has."""
        wanted = {place for each in places for place in (each, *_as_title(each))}
        return next((i for i, links in enumerate(self.results, 1) if wanted & {*links}), float("inf"))


def _as_title(place: str) -> tuple[str, ...]:
    """Return the page of a section if its anchor is that of the page's title, which the search lists as the page."""
    page, _, anchor = place.partition("#")
    source = ROOT / "docs" / page.replace(".html", ".md")
    titled = source.exists() and re.search(rf"(?m)^# .*{{#{re.escape(anchor)}}}$", source.read_text("utf-8"))
    return (page,) if titled else ()


def open_search(page: "Page", address: str) -> None:
    """Open a page and its search, and wait until it answers."""
    page.goto(address)
    page.focus(FIELD)
    page.keyboard.type("memory")
    page.wait_for_selector(".md-search-result__item a", timeout=20_000, state="attached")


def ask(page: "Page", texts: Iterable[str]) -> list[Answer]:
    """Return the answers to these texts."""
    root = page.url.partition("/index.html")[0]
    found = page.evaluate(_ASK, list(texts))
    return [Answer(tuple(tuple(_place(url, root) for url in links) for links in shown), ms) for shown, ms in found]


def _place(url: str, root: str) -> str:
    return re.sub(r"\?[^#]*", "", url.removeprefix(f"{root}/"))

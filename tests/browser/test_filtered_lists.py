"""The filtered lists in a browser, all claims, methods and accelerators: invalid addresses, and use without scripts."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass(frozen=True, slots=True)
class FilteredList:
    """A page with a filtered table."""

    path: str
    filters: str
    rows: str
    least: int
    """Fewer rows than the page has."""
    invalid: tuple[str, ...]
    """States of the address that the filters must ignore."""


CLAIMS = FilteredList(
    "claims/index.html", ".claim-filters", ".claim-index tbody tr", 100, ("#status=nothing", "#training", "#%")
)
METHODS = FilteredList(
    "methods.html",
    ".matrix-filters",
    ".matrix tbody tr",
    20,
    ("#hardware=nothing&goal=x&sort=99", "#sort=--1", "#by-hardware", "#%", "?hardware="),
)
ACCELERATORS = FilteredList(
    "hardware/accelerators.html",
    ".accelerator-filters",
    ".accelerators tbody tr",
    40,
    ("#memory=13&sort=99", "#sort=--1", "#readings", "#%", "?memory="),
)
LISTS = pytest.mark.parametrize("found", [CLAIMS, METHODS, ACCELERATORS], ids=["claims", "methods", "accelerators"])


def test_accelerators_are_filtered_and_sorted(site: Path, browser: "Browser") -> None:
    """By memory and name, and by a column, with unknown values last; the address keeps it."""
    page = browser.new_page()
    page.goto((site / ACCELERATORS.path).as_uri())
    shown = page.locator(f"{ACCELERATORS.rows}:visible")
    page.select_option("[name=memory]", "141")
    page.fill("[name=words]", "nvidia")
    page.get_by_role("button", name="Bandwidth, GB/s").click()
    rows = [[cell.strip() for cell in row.split("\t")] for row in shown.all_inner_texts()]
    sizes = [float(row[2].rstrip("?").replace(",", "")) if row[2] != "–" else -1 for row in rows]
    assert {"H200 SXM", "B200", "GH200 (144 GB), its GPU"} <= {row[0] for row in rows}
    assert "H100 SXM" not in {row[0] for row in rows}
    assert sizes == sorted(sizes, reverse=True)
    assert page.evaluate("location.hash") == "#words=nvidia&memory=141&sort=-2"
    page.reload()
    assert shown.count() == len(rows)
    page.close()


@LISTS
def test_an_invalid_state_in_the_address_is_ignored(site: Path, browser: "Browser", found: FilteredList) -> None:
    errors: list[str] = []
    context = browser.new_context()
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    shown = []
    for state in ("", *found.invalid):
        page.goto("about:blank")
        page.goto(f"{(site / found.path).as_uri()}{state}")
        page.wait_for_function(f"document.querySelector('{found.filters} output').textContent")
        shown.append(page.locator(f"{found.rows}:visible").all_text_contents())
    context.close()
    assert len(shown[0]) > found.least
    assert all(each == shown[0] for each in shown)
    assert errors == []


@pytest.mark.parametrize("width", [1280, 360])
@LISTS
def test_the_list_is_complete_without_scripts(site: Path, browser: "Browser", found: FilteredList, width: int) -> None:
    """Controls are hidden, and nothing overflows the screen."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto((site / found.path).as_uri())
    assert not page.is_visible(found.filters)
    assert page.locator(f"{found.rows}:visible").count() == page.locator(found.rows).count() > found.least
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()

"""The table of all methods in a browser: filters, sorting, address, CSV, and use without scripts."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
KEY = "headroom.hardware"
A100 = 3  # the column's number, from 1
RATIOS = f"""[...document.querySelectorAll('.matrix td:nth-child({A100})')]
  .map(cell => Math.max(0, ...[...cell.querySelectorAll('[data-ratio]')].map(each => Number(each.dataset.ratio))))"""


@pytest.fixture
def page(browser: "Browser") -> "Iterator[Page]":
    """Yield a window of a browser without stored choices."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def opened(page: "Page", site: Path, state: str = "") -> "Page":
    """Open the table with a state in its address."""
    page.goto("about:blank")
    page.goto(f"{(site / 'methods.html').as_uri()}{state}")
    page.wait_for_selector(".matrix th button", state="attached")
    return page


def shown(page: "Page") -> list[list[str]]:
    """Return the cell texts of the visible rows."""
    rows: list[list[str]] = page.evaluate(
        "[...document.querySelectorAll('.matrix tbody tr')].filter(row => row.offsetParent)"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return rows


def name(row: list[str]) -> str:
    """Return the name of a row's method or variant, without the method that a variant belongs to."""
    return row[0].removesuffix("A smaller optimizer step")


def address(page: "Page") -> str:
    """Return the state in the address."""
    return unquote(page.url.partition("#")[2])


def test_filters_select_rows_and_update_the_address(site: Path, page: "Page") -> None:
    """The address has only the changed filters and restores them."""
    everything = opened(page, site).locator(".matrix tbody tr").count()
    assert everything > 20
    assert address(page) == ""
    page.select_option("[name=hardware]", "a100")
    page.select_option("[name=goal]", "memory")
    found = shown(page)
    assert 0 < len(found) < everything
    gains = page.evaluate(
        "[...document.querySelectorAll('.matrix tbody tr')].filter(row => row.offsetParent)"
        ".map(row => row.querySelectorAll('[data-on=a100][data-goal=memory][data-gains]').length)"
    )
    assert all(gains)
    assert address(page) == "hardware=a100&goal=memory"
    assert page.inner_text(".matrix-filters output") == f"{len(found)} of {everything} rows"
    assert shown(opened(page, site, "#hardware=a100&goal=memory")) == found


def test_a_method_is_found_by_any_of_its_names(site: Path, page: "Page") -> None:
    opened(page, site).fill("[name=method]", "torch_compile=true")
    assert {name(row) for row in shown(page)} == {"torch.compile"}
    page.fill("[name=method]", "adafactor")
    found = {name(row) for row in shown(page)}
    assert "Adafactor" in found
    assert all("Adafactor" in each for each in found)  # no other form of the optimizer step
    for word, method in (("8bit", "8-bit AdamW"), ("compile", "torch.compile"), ("--bf16", "Mixed precision")):
        page.fill("[name=method]", word)
        assert method in {name(row) for row in shown(page)}
    page.fill("[name=method]", "no such method")
    assert shown(page) == []
    assert page.inner_text(".matrix-filters output").startswith("0 of ")


def test_columns_sort_by_keyboard(site: Path, page: "Page") -> None:
    """First descending, then ascending, with unknown values last; a third press restores the order."""
    plain = shown(opened(page, site))
    page.focus(f".matrix th:nth-child({A100}) button")
    page.keyboard.press("Enter")
    ratios = page.evaluate(RATIOS)
    known = [ratio for ratio in ratios if ratio]
    assert ratios == [*sorted(known, reverse=True), *[0] * (len(ratios) - len(known))]
    assert page.get_attribute(f".matrix th:nth-child({A100})", "aria-sort") == "descending"
    assert address(page) == f"sort=-{A100 - 1}"
    page.keyboard.press("Enter")
    assert page.evaluate(RATIOS) == [*sorted(known), *[0] * (len(ratios) - len(known))]
    assert page.get_attribute(f".matrix th:nth-child({A100})", "aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert (shown(page), address(page)) == (plain, "")


def test_the_csv_has_the_visible_rows(site: Path, page: "Page") -> None:
    """The browser makes it without a request."""
    opened(page, site, "#goal=speed")
    with page.expect_download() as download:
        page.click("[name=csv]")
    table = list(csv.reader(io.StringIO(Path(download.value.path()).read_text("utf-8"))))
    assert len(table) == len(shown(page)) + 1
    assert [table[0][0], table[0][-1], "A100" in table[0]] == ["Method", "Result", True]
    assert [row[0] for row in table[1:]] == [row[0] for row in shown(page)]


def test_the_hardware_filter_is_the_hardware_switch(site: Path, page: "Page") -> None:
    """A choice in the address applies to that page only."""
    opened(page, site).select_option("[name=hardware]", "cpu-avx512-bf16")
    assert page.evaluate(f"localStorage['{KEY}']") == "cpu-avx512-bf16"
    opened(page, site)
    assert page.input_value("[name=hardware]") == "cpu-avx512-bf16"
    opened(page, site, "#hardware=a100")
    assert page.input_value("[name=hardware]") == "a100"
    assert page.evaluate(f"localStorage['{KEY}']") == "cpu-avx512-bf16"


def test_rows_beyond_the_first_hundred_are_shown_on_request(site: Path, page: "Page") -> None:
    """CSV and count include all rows."""
    page.add_init_script(
        """document.addEventListener("DOMContentLoaded", () => {
          const body = document.querySelector(".matrix tbody"), rows = [...body.rows]
          while (body.rows.length < 150) body.append(...rows.map(row => row.cloneNode(true)))
        })"""
    )
    opened(page, site)
    every = page.locator(".matrix tbody tr").count()
    assert len(shown(page)) == 100
    assert page.inner_text(".matrix-filters output") == f"the first 100 of {every} of {every} rows"
    page.click("[name=all]")
    assert len(shown(page)) == every
    assert not page.is_visible("[name=all]")

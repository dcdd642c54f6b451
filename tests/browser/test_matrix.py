"""The table of all methods in a browser: filters, order, address and CSV; and without scripts the table alone."""

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
RATIOS = """[...document.querySelectorAll('.matrix td:nth-child(4)')]
  .map(cell => Number(cell.querySelector('[data-ratio]')?.dataset.ratio ?? 0))"""


@pytest.fixture
def page(browser: "Browser") -> "Iterator[Page]":
    """A window of a browser that has kept nothing."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def opened(page: "Page", site: Path, state: str = "") -> "Page":
    """The table, with a state in its address."""
    page.goto("about:blank")
    page.goto(f"{(site / 'methods.html').as_uri()}{state}")
    page.wait_for_selector(".matrix th button", state="attached")
    return page


def shown(page: "Page") -> list[list[str]]:
    """The texts of the cells of each row in sight."""
    rows: list[list[str]] = page.evaluate(
        "[...document.querySelectorAll('.matrix tbody tr')].filter(row => row.offsetParent)"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return rows


def address(page: "Page") -> str:
    """What the address says of the state."""
    return unquote(page.url.partition("#")[2])


def test_filters_leave_what_fits_and_the_address_says_which(site: Path, page: "Page") -> None:
    """Only what differs from the start stands in it, and whoever opens it sees the same."""
    everything = shown(opened(page, site))
    assert len(everything) > 20
    assert address(page) == ""
    page.select_option("[name=hardware]", "h200")
    page.select_option("[name=goal]", "memory")
    found = shown(page)
    assert 0 < len(found) < len(everything)
    assert all("H200" in row[1] or row[1].startswith("reported") for row in found)
    assert not [row for row in found if row[3].startswith("–")]
    assert address(page) == "hardware=h200&goal=memory"
    assert page.inner_text(".matrix-filters output") == f"{len(found)} of {len(everything)} rows"
    assert shown(opened(page, site, "#hardware=h200&goal=memory")) == found


def test_a_method_is_found_by_any_of_its_names(site: Path, page: "Page") -> None:
    """A flag of an API is how many know it."""
    opened(page, site).fill("[name=method]", "torch_compile=true")
    assert {row[0] for row in shown(page)} == {"torch.compile"}
    page.fill("[name=method]", "adafactor")
    found = {row[0] for row in shown(page)}
    assert not found & {"A smaller optimizer step", "GaLore"}  # their rows compare forms of AdamW
    for word, method in (("8bit", "8-bit AdamW"), ("compile", "torch.compile"), ("--bf16", "Mixed precision")):
        page.fill("[name=method]", word)
        assert method in {row[0] for row in shown(page)}
    page.fill("[name=method]", "no such method")
    assert shown(page) == []
    assert page.inner_text(".matrix-filters output").startswith("0 of ")


def test_columns_sort_by_keyboard_and_back(site: Path, page: "Page") -> None:
    """The largest gain first, then the smallest, both times what is unknown last; a third press restores the order."""
    plain = shown(opened(page, site))
    page.focus(".matrix th:nth-child(4) button")
    page.keyboard.press("Enter")
    ratios = page.evaluate(RATIOS)
    known = [ratio for ratio in ratios if ratio]
    assert ratios == [*sorted(known, reverse=True), *[0] * (len(ratios) - len(known))]
    assert page.get_attribute(".matrix th:nth-child(4)", "aria-sort") == "descending"
    assert address(page) == "sort=-3"
    page.keyboard.press("Enter")
    assert page.evaluate(RATIOS) == [*sorted(known), *[0] * (len(ratios) - len(known))]
    assert page.get_attribute(".matrix th:nth-child(4)", "aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert (shown(page), address(page)) == (plain, "")


def test_the_csv_is_what_is_shown(site: Path, page: "Page") -> None:
    """Made in the browser, without a request."""
    opened(page, site, "#goal=speed")
    with page.expect_download() as download:
        page.click("[name=csv]")
    table = list(csv.reader(io.StringIO(Path(download.value.path()).read_text("utf-8"))))
    assert len(table) == len(shown(page)) + 1
    assert table[0] == ["Method", "Hardware", "Speed", "Memory", "Result"]
    assert [row[0] for row in table[1:]] == [row[0] for row in shown(page)]


def test_the_filter_of_hardware_is_the_switch_of_every_page(site: Path, page: "Page") -> None:
    """Chosen once; the address of a page counts for that page alone."""
    opened(page, site).select_option("[name=hardware]", "cpu-avx512-bf16")
    assert page.evaluate(f"localStorage['{KEY}']") == "cpu-avx512-bf16"
    opened(page, site)
    assert page.input_value("[name=hardware]") == "cpu-avx512-bf16"
    opened(page, site, "#hardware=h200")
    assert page.input_value("[name=hardware]") == "h200"
    assert page.evaluate(f"localStorage['{KEY}']") == "cpu-avx512-bf16"


@pytest.mark.parametrize(
    "state", ["#hardware=nothing&goal=x&sort=99", "#sort=--1", "#on-each-hardware", "#%", "?hardware="]
)
def test_a_state_that_makes_no_sense_is_none(site: Path, page: "Page", state: str) -> None:
    """Whatever somebody has pasted into the address."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    everything = shown(opened(page, site))
    assert shown(opened(page, site, state)) == everything
    assert errors == []


@pytest.mark.parametrize("width", [1280, 360])
def test_without_scripts_the_table_stands_alone(site: Path, browser: "Browser", width: int) -> None:
    """No control that does nothing, no row missing, nothing beside the screen."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto((site / "methods.html").as_uri())
    assert not page.is_visible(".matrix-filters")
    assert page.locator(".matrix tbody tr:visible").count() == page.locator(".matrix tbody tr").count() > 20
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_more_rows_than_a_phone_can_lay_out_come_when_asked_for(site: Path, page: "Page") -> None:
    """The first hundred at once, with a button for the rest; the CSV and the count know of all."""
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

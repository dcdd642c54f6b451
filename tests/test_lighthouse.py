"""What Lighthouse said last stands on the page on tests as it was recorded."""

import json
from pathlib import Path
from statistics import median

import pytest

from performance import lighthouse

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/contribute/testing.md").read_text("utf-8")
RECORD = json.loads(lighthouse.RECORD.read_text("utf-8"))


@pytest.mark.parametrize("name", lighthouse.PAGES)
def test_each_page_is_told_with_its_scores(name: str) -> None:
    """By the row that the script prints."""
    assert lighthouse.row(name, RECORD["pages"][name]) in PAGE


def test_the_day_and_the_version_are_told() -> None:
    """Another version weighs otherwise."""
    assert RECORD["date"] in PAGE
    assert f"Lighthouse {RECORD['lighthouse']}" in PAGE


def test_the_page_says_so_where_all_budgets_are_kept() -> None:
    """And must not where a recorded figure is below."""
    pages = RECORD["pages"].values()
    desktop = all(score == lighthouse.DESKTOP for page in pages for score in page["desktop"])
    phone = all(median(page["phone"]) >= lighthouse.PHONE for page in pages)
    assert ("All budgets are met." in PAGE) == (desktop and phone)

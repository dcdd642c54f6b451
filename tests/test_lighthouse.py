"""What Lighthouse said last stands on the page on tests as it was recorded."""

import json
from pathlib import Path

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

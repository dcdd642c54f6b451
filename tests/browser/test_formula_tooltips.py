"""Calculated figures in a real browser: the formula appears on hover and on focus, and axe accepts both."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]
# The theme adds a tooltip to the end of the page, outside of all regions; what it describes is in the article.
VIOLATIONS = "axe.run('article', {resultTypes: ['violations']}).then(found => found.violations.map(each => each.id))"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_formula_is_shown_on_hover_and_on_focus(site: Path, browser: "Browser", axe: str, scheme: str) -> None:
    """The figure describes itself by the tooltip, and loses it with the focus."""
    page = browser.new_page(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{site.as_uri()}/training/single-gpu.html")
    figure = page.locator("abbr.calculated:visible").first
    formula = figure.get_attribute("title")
    assert formula
    tooltip = page.locator("[role=tooltip]:visible")
    figure.focus()
    tooltip.wait_for(timeout=5_000)
    assert tooltip.inner_text().strip() == formula
    assert figure.get_attribute("aria-describedby") == tooltip.get_attribute("id")
    page.evaluate(axe)
    assert page.evaluate(VIOLATIONS) == []
    figure.blur()
    tooltip.wait_for(state="hidden", timeout=5_000)
    figure.hover()
    tooltip.wait_for(timeout=5_000)
    page.close()

"""Every picture at two widths in a browser: text is at least 11 px, inside its drawing and never over other text."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGE = "contribute/pictures.html"
FAULTS = """() => [...document.querySelectorAll('svg.picture')].flatMap(svg => {
  const box = svg.getBoundingClientRect(), seen = [], found = [];
  for (const text of svg.querySelectorAll('text')) {
    const r = text.getBoundingClientRect(), m = text.getScreenCTM();
    if (!r.width) continue;
    const say = fault => found.push(`${svg.id}: ${fault}: ${text.textContent}`);
    if (parseFloat(getComputedStyle(text).fontSize) * Math.hypot(m.a, m.b) < 10.9) say('too small');
    if (r.left < box.left - 1 || r.right > box.right + 1) say('cut');
    if (r.top < box.top - 2 || r.bottom > box.bottom + 1) say('cut');
    const own = {l: r.left, r: r.right, t: r.top + r.height * .22, b: r.bottom - r.height * .22};
    if (seen.some(o => own.l < o.r - 1 && o.l < own.r - 1 && own.t < o.b && o.t < own.b)) say('over other text');
    seen.push(own);
  }
  return found;
})"""


@pytest.mark.parametrize("scheme", ["default", "slate"])
@pytest.mark.parametrize("width", [1280, 360])
def test_text_of_pictures_is_readable(browser: "Browser", host: str, width: int, scheme: str) -> None:
    """The page for contributors shows every kind, without JavaScript errors and without scrolling sideways."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"{host}/{PAGE}")
    page.evaluate("scheme => document.body.setAttribute('data-md-color-scheme', scheme)", scheme)
    assert page.locator("figure.frame").count() >= 10
    assert page.evaluate(FAULTS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ink = page.locator("svg.picture text").first.evaluate("text => getComputedStyle(text).fill")
    assert ink == ("rgb(27, 36, 39)" if scheme == "default" else "rgb(226, 232, 232)")
    page.close()

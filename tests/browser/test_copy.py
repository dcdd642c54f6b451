"""The button that copies a page as Markdown, and the link without scripts."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGES = ("training/cpu", "claims/training/memory-logits")


@pytest.mark.parametrize("name", PAGES)
def test_the_button_copies_the_pages_markdown(site: Path, host: str, browser: "Browser", name: str) -> None:
    """It works by keyboard and mouse, and confirms the copy."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{host}/{name}.html")
    button = page.get_by_role("navigation", name="This page").get_by_role("button")
    assert button.inner_text() == "Copy page"
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('.page-actions button').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()") == (site / f"{name}.md").read_text("utf-8")
    context.close()


def test_a_refused_copy_opens_the_markdown(host: str, browser: "Browser") -> None:
    page = browser.new_page()
    page.goto(f"{host}/{PAGES[0]}.html")
    page.evaluate("() => { navigator.clipboard.write = () => Promise.reject(new Error('refused')) }")
    page.route("**/*.md", lambda route: route.fulfill(content_type="text/plain", body="# As text"))
    page.locator(".page-actions button").click()
    page.wait_for_url(f"{host}/{PAGES[0]}.md")
    page.close()


def test_there_is_no_button_from_the_file_system_or_without_scripts(site: Path, browser: "Browser") -> None:
    for scripts in (True, False):
        context = browser.new_context(java_script_enabled=scripts)
        page = context.new_page()
        page.goto((site / f"{PAGES[0]}.html").as_uri())
        assert page.locator(".page-actions button").count() == 0
        link = page.locator(".page-actions a", has_text="Markdown")
        assert link.is_visible()
        assert (site / PAGES[0]).with_name(link.get_attribute("href") or "").is_file()
        context.close()

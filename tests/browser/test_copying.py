"""The copy buttons of code blocks: the clipboard gets code that runs."""

from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from headroom.records.snippets import regions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, ElementHandle, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

GUIDE = "training/cpu.html"
# The file linked below each visible code block of a snippet.
BLOCKS = """() => [...document.querySelectorAll(".highlight:has(+ .ran-on)")].filter(block => block.checkVisibility())
  .map(block => block.nextElementSibling.querySelector("a").getAttribute("href"))"""


@pytest.fixture
def guide(site: Path, browser: "Browser") -> "Iterator[Page]":
    """Yield a guide with a field to paste into."""
    page = browser.new_page()
    page.goto((site / GUIDE).as_uri())
    page.wait_for_selector("html.js")
    page.evaluate("document.body.append(Object.assign(document.createElement('textarea'), {id: 'paste'}))")
    yield page
    page.close()


def pasted(page: "Page", button: "ElementHandle | None") -> str:
    """Return the clipboard's text after a click on a button."""
    assert button is not None
    button.click()
    page.fill("#paste", "")
    page.focus("#paste")
    page.keyboard.press("Control+V")
    return page.input_value("#paste")


def button_of(block: "ElementHandle") -> "ElementHandle | None":
    """Return the button of a block, which appears once the block is visible."""
    block.scroll_into_view_if_needed()
    return block.wait_for_selector(".md-code__button", state="attached")


def shown(path: Path) -> set[str]:
    """Return the regions of a snippet, without their common indentation."""
    source = path.read_text("utf-8")
    rows = source.splitlines()
    kept = [[row for row in rows[start : end - 1] if "--8<--" not in row] for start, end in regions(source).values()]
    return {dedent("\n".join(region)).strip("\n") for region in kept} | {source.strip()}


def test_a_copied_snippet_equals_its_file(site: Path, guide: "Page") -> None:
    """Only the last newline is missing."""
    files = guide.evaluate(BLOCKS)
    blocks = [block for block in guide.query_selector_all(".highlight:has(+ .ran-on)") if block.is_visible()]
    assert len(blocks) == len(files) > 1
    for file, block in zip(files, blocks, strict=True):
        assert pasted(guide, button_of(block)) in shown(site / "training" / file), file


def test_the_command_has_its_own_button(guide: "Page") -> None:
    """The button has an accessible name."""
    (button, *_) = [each for each in guide.query_selector_all("button.copy") if each.is_visible()]
    assert button.get_attribute("aria-label") == "Copy the command"
    command = guide.evaluate("button => button.parentElement.querySelector('code').textContent", button)
    assert command.startswith("uv run snippets/")
    assert pasted(guide, button) == command


def test_copied_commands_have_neither_prompts_nor_output(guide: "Page") -> None:
    blocks = [each for each in guide.query_selector_all(".highlight:has(.gp):has(.go)") if each.is_visible()]
    block = next(each for each in blocks if len(each.query_selector_all(".gp")) == 1)
    button_of(block)  # code out of sight has no text yet
    (line, *answer) = block.inner_text().strip().splitlines()
    assert line.startswith("$ ")
    assert answer
    assert pasted(guide, button_of(block)) == line.removeprefix("$ ")


def test_there_is_no_copy_button_without_scripts(site: Path, browser: "Browser") -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / GUIDE).as_uri())
    assert page.is_visible(".ran-on code")
    assert not page.is_visible("button.copy")
    context.close()

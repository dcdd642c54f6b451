"""What the buttons beside code put on the clipboard: code that runs as it is pasted."""

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
# Every block of a snippet that is in sight, with the file that the line below it leads to.
BLOCKS = """() => [...document.querySelectorAll(".highlight:has(+ .ran-on)")].filter(block => block.offsetParent)
  .map(block => block.nextElementSibling.querySelector("a").getAttribute("href"))"""


@pytest.fixture
def guide(site: Path, browser: "Browser") -> "Iterator[Page]":
    """A guide, with a field to paste into."""
    page = browser.new_page()
    page.goto((site / GUIDE).as_uri())
    page.wait_for_selector("html.js")
    page.evaluate("document.body.append(Object.assign(document.createElement('textarea'), {id: 'paste'}))")
    yield page
    page.close()


def pasted(page: "Page", button: "ElementHandle | None") -> str:
    """What stands on the clipboard once a button was clicked."""
    assert button is not None
    button.click()
    page.fill("#paste", "")
    page.focus("#paste")
    page.keyboard.press("Control+V")
    return page.input_value("#paste")


def beside(block: "ElementHandle") -> "ElementHandle | None":
    """The button beside a block, which it gets once it is in sight."""
    block.scroll_into_view_if_needed()
    return block.wait_for_selector(".md-code__button", state="attached")


def shown(path: Path) -> set[str]:
    """The regions of a snippet, each without the indentation that it has as a whole."""
    source = path.read_text("utf-8")
    rows = source.splitlines()
    return {dedent("\n".join(rows[start : end - 1])) for start, end in regions(source).values()} | {source.strip()}


def test_the_copy_of_a_snippet_is_what_stands_in_its_file(site: Path, guide: "Page") -> None:
    """Byte for byte, without numbers, prompts or marks; only the last line's end is left out."""
    files = guide.evaluate(BLOCKS)
    blocks = [block for block in guide.query_selector_all(".highlight:has(+ .ran-on)") if block.is_visible()]
    assert len(blocks) == len(files) > 1
    for file, block in zip(files, blocks, strict=True):
        assert pasted(guide, beside(block)) in shown(site / "training" / file), file


def test_the_command_below_it_is_copied_alone(guide: "Page") -> None:
    """With a button of its own, named for those who do not see where it stands."""
    (button, *_) = [each for each in guide.query_selector_all("button.copy") if each.is_visible()]
    assert button.get_attribute("aria-label") == "Copy the command"
    command = guide.evaluate("button => button.parentElement.querySelector('code').textContent", button)
    assert command.startswith("uv run snippets/")
    assert pasted(guide, button) == command


def test_a_shell_gets_neither_prompts_nor_answers(guide: "Page") -> None:
    """What begins with a dollar is typed; the dollar is not, and what it printed is not."""
    block = guide.query_selector(".highlight:has(.gp)")
    assert block is not None
    (line, *answer) = block.inner_text().strip().splitlines()
    assert line.startswith("$ ")
    assert answer
    assert pasted(guide, beside(block)) == line.removeprefix("$ ")


def test_without_scripts_no_button_promises_a_copy(site: Path, browser: "Browser") -> None:
    """The command still stands there."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / GUIDE).as_uri())
    assert page.is_visible(".ran-on code")
    assert not page.is_visible("button.copy")
    context.close()

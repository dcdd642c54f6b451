"""Redirects, the 404 page and glossary links in a browser."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def landed(browser: "Browser", address: str, end: str, *, scripts: bool = True) -> str:
    """Return where an address leads, once it ends with this text."""
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    page.goto(address)
    page.wait_for_url(f"**{end}", timeout=5_000)
    found = page.url
    context.close()
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("perf_train_gpu_one.html", "/training/single-gpu.html"),
        ("perf_train_gpu_one.html#gradient-checkpointing", "/gradient-checkpointing.html#activation-checkpointing"),
        ("perf_train_gpu_one.html#never-there", "/training/single-gpu.html"),
        ("perf_infer_gpu_one.html#4-bit", "/inference/single-gpu.html"),
        ("perf_infer_gpu_one.html#flashattention-2", "/training/single-gpu/attention.html#attention"),
        ("perf_hardware.html", "/hardware/workstation.html#workstation"),
        ("training/single-gpu.html#compile", "/training/single-gpu/speed.html#compile"),
    ],
)
def test_an_old_address_redirects_with_its_anchor(site: Path, browser: "Browser", old: str, new: str) -> None:
    """Redirects work from the file system and by HTTP, as do anchors that left a page."""
    assert landed(browser, f"{site.as_uri()}/{old}", new).endswith(new)


def test_an_old_address_redirects_to_the_page_without_scripts(site: Path, browser: "Browser") -> None:
    new = "/training/cpu.html"
    assert landed(browser, f"{site.as_uri()}/perf_train_cpu.html", new, scripts=False).endswith(new)


def test_the_404_page_suggests_similar_pages(host: str, browser: "Browser") -> None:
    """Cases: another depth, a typo with an anchor, and nonsense without suggestions."""
    page = browser.new_page()
    page.goto(f"{host}/docs/transformers/v4.30.0/en/perf_train_gpu_on#gradient-accumulation")
    first = page.locator("#nearest a").first
    assert first.inner_text() == "Train on a single GPU"
    first.click()
    page.wait_for_url("**/batch.html#gradient-accumulation")
    page.goto(f"{host}/zzqx")
    assert page.locator("#nearest").is_hidden()
    assert page.locator("main li a").count() > 10
    page.close()


def test_a_term_is_explained_on_focus_and_links_to_the_glossary(site: Path, browser: "Browser") -> None:
    page = browser.new_page()
    page.goto(f"{site.as_uri()}/training/cpu.html")
    word = page.locator("a.term:visible").first
    meaning = word.get_attribute("title")
    assert meaning
    word.focus()
    page.wait_for_selector("[role=tooltip]:visible", timeout=5_000)
    assert page.locator("[role=tooltip]:visible").inner_text().strip() == meaning
    word.press("Enter")
    page.wait_for_url("**/concepts/glossary.html#*")
    assert page.locator(":target").is_visible()
    page.close()


def test_a_line_of_code_has_an_anchor(site: Path, browser: "Browser") -> None:
    page = browser.new_page()
    page.goto(f"{site.as_uri()}/training/cpu.html")
    link = page.locator('a[aria-label="Link to this code"]').first
    name = (link.get_attribute("href") or "").removeprefix("#")
    assert page.locator(f".highlight#{name}").count() == 1
    page.goto(f"{site.as_uri()}/training/cpu.html#L-{name}-1")
    assert page.locator("code span:target").is_visible()
    page.close()

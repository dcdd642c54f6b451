"""The topology reader on its page: pasted texts, refusals with a pointer, the drawing, and the page without scripts."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headroom.topology import TopologyError, read_topology, report
from made_topologies import MADE
from topology_texts import TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATH = "hardware/interconnect.html"


@pytest.fixture
def page(site: Path, browser: "Browser") -> "Iterator[Page]":
    """Yield the page in a window of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto((site / PATH).as_uri())
    page.wait_for_selector("#topology-text")
    yield page
    context.close()


def test_pasted_texts_show_python_s_summary_findings_and_advice(page: "Page") -> None:
    for text in (MADE["gpu without NVLink"], TEXTS["hybrid-cube-mesh"], TEXTS["p2p-gpu-not-supported"]):
        page.fill("#topology-text", text)
        found = report(read_topology(text))
        assert page.inner_text(".topo-says").startswith(found.summary)
        shown = page.inner_text(".topo-report")
        assert all(each.text in shown for each in found.findings)
        assert all(f"{name}: {says}" in shown for name, says in found.advice.items())
        assert page.locator("#picture-topology").is_visible()


def test_refused_text_has_its_place_and_no_drawing(page: "Page") -> None:
    text = TEXTS["cut-nv8"]
    with pytest.raises(TopologyError) as refused:
        read_topology(text)
    page.fill("#topology-text", text)
    says = page.inner_text(".topo-says")
    assert says.startswith(f"Line {refused.value.line}, column {refused.value.column}: {refused.value.problem}.")
    assert page.locator("#picture-topology").count() == 0
    row, pointer = page.locator(".topo-report pre code").inner_text().rstrip("\n").split("\n")
    assert pointer.index("^") == len(row.rstrip())
    page.fill("#topology-text", "")
    assert page.inner_text(".topo-says") == ""


def test_example_is_read_by_keyboard_and_pasted_markup_stays_text(page: "Page") -> None:
    page.focus(".topo-form button")
    page.keyboard.press("Enter")
    assert "joins GPUs in groups: GPU0 and GPU1; GPU2 and GPU3" in page.inner_text(".topo-says")
    page.fill("#topology-text", "\tGPU0\tGPU1\nGPU0\tX\t<b>SYS\nGPU1\tSYS\tX\n")
    assert page.locator(".topo-report b").count() == 0
    assert "<b>SYS" in page.inner_text(".topo-says")


def test_page_without_scripts_has_the_command_and_the_example(site: Path, browser: "Browser") -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / PATH).as_uri())
    assert "headroom topology topo.txt" in page.inner_text("#read-topology")
    assert "NV4" in page.inner_text("#read-topology")
    context.close()

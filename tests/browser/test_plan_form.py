"""The form of the page on training plans: plans equal to Python's, the address, the keyboard, and no scripts."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import pytest

from headroom.cli import OK, main
from headroom.planner.plan import plan
from headroom.records import load
from headroom.site.plan_form import planned_models
from planned_runs import ROOT, figures, planned, random_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PLANS = """runs => runs.map(run => {
  const {layouts, tried, withoutRoom, least} = planner.plan(run)
  const smallest = least && [least.name, [least.low, least.high]]
  return [tried, withoutRoom, smallest, layouts.map(({name, work, memory, slower, certain, time}) =>
    [name, work.batch, work.accumulation, work.recompute, memory.peak, memory.low, memory.high, slower, certain,
      time.compute, time.communication, time.bubble, time.optimizer, time.straggling, time.seconds, time.rate])]
})"""
WIDE = """[...document.querySelectorAll("#plan-form *")].filter(each =>
  each.clientWidth && each.scrollWidth > each.clientWidth + 1).map(each => each.outerHTML)"""
RUNS, PLANNED, LAYOUTS, WITHOUT, EXACT = 190, 150, 1500, 10, 9
ROUNDING = 1e-12
BUILT = "tools/plan.html"


@pytest.fixture
def page(browser: "Browser") -> "Iterator[Page]":
    """Yield a window without stored choices."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def opened(page: "Page", site: Path, state: str = "") -> "Page":
    """Open the page with a state in its address."""
    page.goto("about:blank")
    page.goto(f"{(site / BUILT).as_uri()}{state}")
    page.wait_for_selector(".fit-says:not(:empty)")
    return page


def says(page: "Page") -> str:
    """Return the answer."""
    return page.inner_text("#plan-form .fit-says").replace("\u00a0", " ")


def test_random_plans_are_those_of_python(site: Path, page: "Page") -> None:
    """Every layout: its name, micro-batch and verdicts, its memory to the byte, and its step time to rounding."""
    cards = opened(page, site).evaluate("Object.keys(planData.cards)")
    runs = list(random_runs(list(planned_models(load(ROOT))), cards, RUNS, 7))
    made = [(run, found) for run in runs if (found := planned(run))]
    assert len(made) >= PLANNED
    answers = page.evaluate(PLANS, [run for run, _ in made])
    compared = without = 0
    for (run, found), (tried, without_room, least, layouts) in zip(made, answers, strict=True):
        expected = figures(found)
        compared += len(expected)
        assert (tried - len(layouts), without_room) == (found.without_room, found.without_room), run
        assert least == (found.least and [found.least[0], list(found.least[1])]), run
        without += least is not None
        assert [each[:EXACT] for each in layouts] == [each[:EXACT] for each in expected], run
        for ours, known in zip(layouts, expected, strict=True):
            assert ours[EXACT:] == pytest.approx(known[EXACT:], rel=ROUNDING, abs=0), run
    assert compared > LAYOUTS
    assert without >= WITHOUT


def test_chosen_fields_show_the_best_layout_of_python_and_its_command(
    site: Path, page: "Page", capsys: pytest.CaptureFixture[str]
) -> None:
    opened(page, site).select_option("[name=model]", label="Llama 3.1 70B")
    page.select_option("[name=card]", "h200")
    page.fill("[name=nodes]", "4")
    page.fill("[name=network]", "200")
    page.fill("[name=batch]", "128")
    page.select_option("[name=loss]", "chunked")
    found = plan("llama-3.1-70b", card="H200", gpus=32, network=200, batch=128, length=8192, loss="chunked", root=ROOT)
    best, text = found.layouts[0], page.locator(".plan-list li").first.inner_text().replace("\u00a0", " ")
    assert says(page).startswith(f"{best.name}: {best.time.seconds:#.3g} s per step")
    low, high = (round(size / 2**30) for size in best.needed)
    assert f"{low} to {high} GiB" in text
    assert f"micro-batch {best.work.batch} × {best.work.accumulation}" in text
    assert f"compute {best.time.compute:.1f} + exposed communication {best.time.communication:.1f}" in text
    tied = sum(not each.slower for each in found.layouts)
    heading = page.locator("#plan-form h2").first.inner_text()
    assert heading == f"Fastest: differences below the median error ({tied})"
    command = shlex.split(page.inner_text(".plan-command code"))
    assert command[:4] == ["headroom", "plan", "llama-3.1-70b", "--card"]
    assert main([*command[1:], "--json", "--root", str(ROOT)]) == OK
    printed = json.loads(capsys.readouterr().out)["layouts"]
    assert [each["name"] for each in printed] == [each.name for each in found.layouts]


def test_the_address_restores_the_fields_and_the_answer(site: Path, page: "Page") -> None:
    opened(page, site)
    assert "#" not in page.url
    page.fill("[name=nodes]", "8")
    page.fill("[name=batch]", "512")
    page.select_option("[name=precision]", "fp8")
    page.check("[name=sure]")
    page.wait_for_function("location.hash.includes('sure=1')")
    state = page.url.partition("#")[2]
    assert dict(parse_qsl(state)) == {"nodes": "8", "batch": "512", "precision": "fp8", "sure": "1"}
    answer = says(page)
    assert "64 × H100" in answer
    assert says(opened(page, site, f"#{state}")) == answer
    assert page.input_value("[name=nodes]") == "8"
    assert page.is_checked("[name=sure]")


def test_impossible_fields_are_refused(site: Path, page: "Page") -> None:
    opened(page, site).fill("[name=perNode]", "3")
    assert says(page).startswith("No layout over 3 GPUs divides 64 sequences.")
    page.fill("[name=perNode]", "8")
    page.fill("[name=batch]", "0")
    assert says(page).startswith("Sequences per step: give a whole number from 1")
    page.fill("[name=batch]", "64")
    page.select_option("[name=card]", "a10")
    page.select_option("[name=model]", "llama-3.1-405b")
    assert says(page).startswith("No layout fits")
    least = plan("llama-3.1-405b", card="A10", gpus=8, batch=64, length=8192, root=ROOT).least
    assert least is not None
    low, high = (round(size / 2**30) for size in least[1])
    assert f"The least is {low:,} to {high:,} GiB per GPU, with {least[0]}" in says(page)
    assert "a shorter length, or the loss in chunks." in says(page)
    page.select_option("[name=loss]", "chunked")
    assert says(page).endswith("a larger card, a shorter length.")
    assert page.locator("[name=precision] option[value=fp8]").is_disabled()
    assert page.locator(".plan-list").count() == 0


def test_all_layouts_are_shown_by_keyboard(site: Path, page: "Page") -> None:
    opened(page, site)
    rows, button = page.locator(".plan-list li"), page.locator("#plan-form button")
    assert rows.count() == 10
    every = button.inner_text()
    button.focus()
    page.keyboard.press("Enter")
    assert every == f"Show all {rows.count()} layouts"
    assert page.evaluate("document.activeElement.textContent") == "Show the first 10"


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_window(site: Path, page: "Page", width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    opened(page, site, "#model=qwen3-235b-a22b&nodes=16&batch=1024")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDE) == []


def test_plans_are_readable_without_scripts(site: Path, browser: "Browser") -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / BUILT).as_uri())
    assert "headroom plan" in page.inner_text("article")
    assert page.locator("tr", has_text="cannot tell").count() > 0
    context.close()

"""The memory estimates in a browser: equal to Python's, restored from the address, and used without scripts."""

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

import pytest

from headroom.memory.errors import EstimateError
from headroom.memory.estimate import estimate, estimate_architecture
from headroom.memory.fitting import FITS, verdict
from headroom.memory.job import Job
from headroom.memory.least_time import least_time, speeds_of
from headroom.memory.sizes import card_bytes
from headroom.records import load
from headroom.site.memory_tool.models import known_models
from headroom.site.memory_tool.recipes import RECIPES
from memory_jobs import ROOT, estimated, figures, random_jobs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from playwright.sync_api import Browser, Page

    from headroom.memory.architecture import Architecture

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FIGURES = """jobs => jobs.map(job => {
  const found = memory.estimate(job.model, job)
  return found.error ? null
    : [found.peak, found.low, found.high, found.phases.map(each => [each.phase, Object.fromEntries(each.parts)])]
})"""
WAYS = """bytes => fitting.ways(fitting.DEFAULTS, bytes).map(each =>
  [each.names, each.job, each.found.peak, each.batch, each.length])"""
TIMES = "jobs => jobs.map(job => leastTime(job.model, job.card, job))"
JOBS = 1000


@pytest.fixture
def page(browser: "Browser") -> "Iterator[Page]":
    """Yield a window without stored choices."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def models() -> "Mapping[str, Architecture]":
    """Return every model that can be estimated."""
    return known_models(load(ROOT))


def opened(page: "Page", site: Path, state: str = "", path: str = "tools/will-it-fit.html") -> "Page":
    """Open the page with a state in its address."""
    page.goto("about:blank")
    page.goto(f"{(site / path).as_uri()}{state}")
    page.wait_for_selector(".fit-says:not(:empty)")
    return page


def says(page: "Page") -> str:
    """Return the answer."""
    return page.inner_text(".fit-says")


def test_a_thousand_random_jobs_have_the_figures_of_python(
    site: Path, page: "Page", models: "Mapping[str, Architecture]"
) -> None:
    """Every component of every phase, and what a card needs, to the byte; jobs with a larger batch differ."""
    jobs = list(itertools.islice((job for job in random_jobs(models, 10 * JOBS, 1) if estimated(models, job)), JOBS))
    assert len(jobs) == JOBS
    opened(page, site)
    expected = [figures(estimated(models, job)) for job in jobs]
    assert page.evaluate(FIGURES, jobs) == expected
    larger = page.evaluate(FIGURES, [{**job, "batch": job["batch"] + 1} for job in jobs])
    assert sum(found != known for found, known in zip(larger, expected, strict=True)) > JOBS * 0.9


def timed(models: "Mapping[str, Architecture]", job: "Mapping[str, Any]") -> dict[str, Any] | None:
    """Return Python's least time of a job in the browser's words, or None if it has none."""
    words = {name: job[name] for name in ("job", "precision", "batch", "length", "cache", "quantization")}
    try:
        return least_time(models[job["model"]], Job(**words), job["card"], ROOT).to_dict()
    except EstimateError:
        return None


def test_least_times_are_those_of_python(site: Path, page: "Page", models: "Mapping[str, Architecture]") -> None:
    """Every model on some card, as a prefill and as a decode step, with small and large batches."""
    names = list(speeds_of(ROOT))
    jobs = [
        {"model": model, "card": names[number % len(names)], "job": job, "precision": precision, "cache": cache}
        | {"batch": batch, "length": length, "quantization": quantization}
        for number, model in enumerate(models)
        for job in ("prefill", "decode")
        for precision, cache in (("bf16", "bf16"), ("autocast", "bf16"), ("fp32", "fp32"))
        for batch, length, quantization in ((1, 1, "auto"), (1, 8191, "int8"), (33, 600, "int4"), (2, 9, "nf4"))
    ]
    found = opened(page, site).evaluate(TIMES, jobs)
    expected = [timed(models, job) for job in jobs]
    assert sum(each is not None for each in expected) > len(jobs) * 0.8
    for known, ours in zip(expected, found, strict=True):
        assert (known or {}).keys() == (ours or {}).keys()
        for name, value in (known or {}).items():
            assert ours[name] == (value if value is None else pytest.approx(value, rel=1e-12))


def test_a_job_that_python_refuses_has_no_figures(
    site: Path, page: "Page", models: "Mapping[str, Architecture]"
) -> None:
    jobs = [job for job in random_jobs(models, 300, 2) if not estimated(models, job)]
    assert len(jobs) > 50
    assert set(opened(page, site).evaluate(FIGURES, jobs)) == {None}


def test_the_first_answer_names_lora_and_qlora_for_eight_billion_parameters_on_24_gigabytes(
    site: Path, page: "Page"
) -> None:
    opened(page, site)
    assert says(page).startswith("Does not fit")
    assert "Llama 3.1 8B" in says(page)
    error = page.locator(".fit-error")
    assert re.match(r"Known error of the peak: ±\d+\.\d % on \d+ published rows of this kind", error.inner_text())
    assert "estimate-errors" in str(error.locator("a").get_attribute("href"))
    ways = page.locator(".fit-ways > li")
    assert [title.split(" + ")[0] for title in ways.locator("h3").all_inner_texts()] == ["LoRA", "QLoRA"]
    for number in range(ways.count()):
        text = ways.nth(number).inner_text()
        assert "GiB" in text
        assert "tokens" in text
        assert "times as fast" in text
        assert ways.nth(number).locator("a[href*='training/single-gpu/']").count() > 0


def test_each_way_fits_and_its_batch_and_length_are_the_largest_ones(
    site: Path, page: "Page", models: "Mapping[str, Architecture]"
) -> None:
    """Judged by Python."""
    usable = card_bytes("rtx-4090", ROOT)
    ways: list[list[Any]] = opened(page, site).evaluate(WAYS, usable)
    assert len(ways) > 1

    def fits(job: dict[str, Any], **changed: int) -> bool:
        found = estimated(models, {**job, **changed, "cache": "bf16"})
        return found is not None and verdict(found.needed, usable) == FITS

    for _names, job, peak, batch, length in ways:
        found = estimated(models, {**job, "cache": "bf16"})
        assert found is not None
        assert found.peak == peak
        assert fits(job)
        assert fits(job, batch=batch)
        assert not fits(job, batch=batch + 1)
        assert fits(job, length=length)
        assert not fits(job, length=length + 1)


def test_the_address_keeps_what_differs_from_the_default(site: Path, page: "Page") -> None:
    opened(page, site)
    assert "#" not in page.url
    page.select_option("[name=job]", "qlora")
    page.check("[name=checkpointing]")
    page.fill("[name=batch]", "2")
    page.wait_for_function("location.hash.includes('batch=2')")
    assert unquote(page.url.partition("#")[2]) == "job=qlora&batch=2&checkpointing=1"
    answer = says(page)
    assert answer.startswith("Fits")
    assert says(opened(page, site, "#job=qlora&batch=2&checkpointing=1")) == answer
    assert page.input_value("[name=batch]") == "2"


def test_a_way_is_applied_by_keyboard(site: Path, page: "Page") -> None:
    opened(page, site)
    page.focus(".fit-ways h3 a")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('[name=job]').value === 'lora'")
    assert says(page).startswith("Fits")
    assert page.locator(".fit-ways").count() == 0


def test_a_model_is_found_by_its_hub_name_and_an_unknown_one_is_refused(site: Path, page: "Page") -> None:
    opened(page, site).fill("[name=model]", "Qwen/Qwen3-0.6B")
    assert "Qwen3 0.6B" in says(page)
    page.fill("[name=model]", "nobody/nothing")
    page.focus("[name=batch]")
    assert "“nobody/nothing”" in says(page)
    page.fill("[name=model]", "Llama 3.2 1B")
    page.fill("[name=batch]", "0")
    assert says(page).startswith("Sequences per GPU: give a whole number from 1")


def test_the_mask_of_a_sliding_window_is_named_as_python_does(site: Path, page: "Page") -> None:
    """Where the sequence is as long as the window; a model without windows has no such sentence."""
    for job, options in (("#batch=2", {"batch": 2}), ("#batch=2&checkpointing=1", {"batch": 2, "checkpointing": True})):
        found = estimate("gemma-3-1b", root=ROOT, length=8192, **options)
        (sentence,) = (each for each in found.assumptions if each.startswith("too low by"))
        bytes_ = float(sentence.split()[3])
        opened(page, site, f"{job}&model=gemma-3-1b&length=8192")
        assert f"too low by {bytes_:.1f} GiB or more" in page.inner_text(".fit-error").replace("\u00a0", " ")
    assert "too low" not in opened(page, site, "#model=gemma-3-1b&length=511").inner_text(".fit-error")
    assert "too low" not in opened(page, site, "#model=llama-3.1-8b&length=8192").inner_text(".fit-error")


def spaced(text: str) -> str:
    """Return a text with ordinary spaces."""
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize("address", ["tools/will-it-fit.html#command-line", "tools/plan.html#errors"])
def test_the_address_of_a_heading_leads_there(site: Path, page: "Page", address: str) -> None:
    """The form draws itself first, and keeps this address until something is chosen."""
    path, name = address.split("#")
    opened(page, site, f"#{name}", path)
    place = "name => document.getElementById(name).getBoundingClientRect().top"
    page.wait_for_function(f"scrollY > 1000 && Math.abs(({place})('{name}')) < 200")
    page.select_option("select >> nth=0", index=1)
    assert "=" in page.evaluate("location.hash")


def test_inference_has_its_settings_only(site: Path, page: "Page") -> None:
    opened(page, site, "#job=inference&length=8192")
    assert says(page).startswith("Fits")
    assert page.is_visible("[name=precision]")
    assert not page.is_visible("[name=optimizer]")
    assert "KV cache" in page.inner_text(".fit-legend")
    times = r"The least time of the prefill is \d+ ms, bound by FLOPs; of a decode step with this cache 16 ms,"
    assert re.match(times, spaced(page.inner_text(".fit-time")))
    page.select_option("[name=job]", "lora")
    assert page.locator(".fit-time").count() == 0


def test_inference_that_does_not_fit_is_offered_quantized_weights(
    site: Path, page: "Page", models: "Mapping[str, Architecture]"
) -> None:
    """Each way fits by Python's estimate, has claims about its cost, and leads to the same job."""
    opened(page, site, "#model=llama-3.1-70b&card=a100-40gb&job=inference&length=4096")
    assert says(page).startswith("Does not fit")
    assert page.locator(".fit-ways").count() == 0
    opened(page, site, "#model=qwen3-14b&card=rtx-4090&job=inference&length=4096")
    ways = page.locator(".fit-ways > li")
    titles = ways.locator("h3").all_inner_texts()
    assert titles == ["8-bit weights (LLM.int8)", "4-bit weights (NF4)", "4-bit checkpoint (AWQ, GPTQ)"]
    for number, form in enumerate(("int8", "nf4", "int4")):
        both = (
            estimate_architecture(models["qwen3-14b"], Job(job=kind, length=4096, quantization=form), ROOT)
            for kind in ("prefill", "decode")
        )
        needed = max(each.needed for each in both)
        assert verdict(needed, card_bytes("rtx-4090", ROOT)) == FITS
        assert ways.nth(number).locator("li", has_text="times").count() > 0
    page.click(".fit-ways h3 a >> nth=1")
    page.wait_for_function("document.querySelector('.fit-says').textContent.startsWith('Fits')")
    assert page.input_value("[name=quantization]") == "nf4"
    assert "unknown" in page.inner_text(".fit-error")
    page.select_option("[name=job]", "lora")
    assert not page.is_visible("[name=quantization]")


def test_each_recipe_of_the_start_page_leads_to_its_job(site: Path, page: "Page") -> None:
    """The calculator keeps every setting of the address, because each is one of its choices."""
    for recipe in RECIPES:
        opened(page, site, f"#{recipe.address}")
        for name, value in parse_qsl(recipe.address):
            control = page.locator(f"[name={name}]")
            chosen = (
                str(int(control.is_checked())) if control.get_attribute("type") == "checkbox" else control.input_value()
            )
            assert chosen == value, recipe


def test_common_models_are_readable_without_scripts(site: Path, browser: "Browser") -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "tools/will-it-fit.html").as_uri())
    row = page.locator("tr", has_text="Llama 3.1 8B").first.inner_text()
    assert row.count("GiB") == 6
    assert "24 GB card" in row.replace("\u00a0", " ")
    context.close()


def test_the_start_page_answers_for_a_model_and_a_card(site: Path, page: "Page") -> None:
    """Its link leads to the same job on the page with all settings."""
    opened(page, site, path="index.html").select_option("[name=card]", "a100-80gb")
    page.fill("[name=model]", "Llama 3.2 1B")
    assert says(page).startswith("Full fine-tuning with fp32 weights")
    page.select_option("[name=job]", "inference")
    assert says(page).startswith("Inference")
    page.click(".fit-says a")
    page.wait_for_selector(".fit-form [name=optimizer]", state="attached")
    assert (page.input_value("[name=model]"), page.input_value("[name=job]")) == ("Llama 3.2 1B", "inference")


def test_the_start_page_names_the_largest_batch_and_length(site: Path, page: "Page") -> None:
    """They are those of the page with all settings, for the recipe of the answer."""
    opened(page, site, path="index.html").select_option("[name=card]", "a100-80gb")
    page.evaluate("document.querySelector('.memory-form').scrollIntoView()")
    page.wait_for_function("document.querySelector('.fit-says').textContent.includes('At most fit')")
    found = re.search(r"At most fit ([\d,]+) × 2,048 tokens, or one sequence of ([\d,]+) tokens", spaced(says(page)))
    assert found
    assert page.locator(".fit-list li:not(.no) small", has_text="up to").count() > 1
    page.click(".fit-says a")
    page.wait_for_selector(".fit-form [name=optimizer]", state="attached")
    batch, length = found.groups()
    whole = spaced(page.inner_text("#will-it-fit"))
    assert f"At most fit {batch} sequences of 2,048 tokens, or 1 sequence of {length} tokens" in whole


def test_the_finder_ranks_methods_by_the_memory_of_the_chosen_model(site: Path, page: "Page") -> None:
    """What fits comes first, the largest first; the others follow in grey, the smallest first."""
    opened(page, site, path="find/out-of-memory-fine-tuning-one-gpu.html")
    rows: list[tuple[bool, float]] = page.evaluate(
        "[...document.querySelectorAll('.fit-list li')].map(row =>"
        " [row.className === 'no', parseFloat(row.querySelector('.peak').textContent)])"
    )
    fitting, others = ([peak for grey, peak in rows if grey == wanted] for wanted in (False, True))
    assert [grey for grey, _ in rows] == [False] * len(fitting) + [True] * len(others)
    assert fitting == sorted(fitting, reverse=True)
    assert others == sorted(others)
    assert len(fitting) > 1
    assert len(others) > 1
    page.select_option("[name=card]", "b300")
    assert page.locator(".fit-list li.no").count() == 0

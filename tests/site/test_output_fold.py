"""What a snippet printed, folded under its code."""

import json
from pathlib import Path
from re import sub
from typing import Any
from xml.etree import ElementTree as ET

import markdown
import pytest

from headroom.site.as_markdown import plain
from headroom.site.markdown_extension import HeadroomExtension
from headroom.site.site_data import PageContext, SiteData

RUN = "checks/runs/training/clever/cpu.json"
PAGE = PageContext("training/guide.md", ("cpu",))
OUTPUT = '2 < 3 & *so* on\n```\n[x](y:z) {{ a }} wzxhzdk:0\n--8<-- "LICENSE"\n    indented'


FENCE = '```python\n--8<-- "snippets/training/clever.py:enable"\n```\n'


def indented(text: str) -> str:
    """A text as the body of an item or an admonition."""
    return sub(r"(?m)^(?=.)", "    ", text)


def rendered(site: SiteData, text: str) -> str:
    """A page as HTML."""
    extensions = [
        "admonition",
        "pymdownx.superfences",
        "pymdownx.snippets",
        HeadroomExtension(site=site, page=lambda: PAGE),
    ]
    options = {"base_path": [str(site.tree.root)], "check_paths": True, "dedent_subsections": True}
    return markdown.markdown(text, extensions=extensions, extension_configs={"pymdownx.snippets": options})


def data(root: Path, name: str = "cpu", **changes: Any) -> SiteData:
    """The tree with a record of this class whose run printed something, with these fields changed."""
    run = json.loads((root / RUN).read_text("utf-8"))
    run |= {"output": OUTPUT, "hardware_class": name, **changes}
    (root / RUN).with_name(f"{name}.json").write_text(json.dumps(run), "utf-8")
    found = SiteData.load(root)
    assert not found.tree.problems
    return found


def folds(html: str) -> list[tuple[str, str]]:
    """The summary of each output on a page, and the output."""
    body = ET.fromstring(f"<div>{html.replace('checked', '').replace('<input', '<br')}</div>")  # noqa: S314 - our own
    return [
        (each.findtext("summary", ""), each.findtext("div[@class='output no-copy']/pre/code", ""))
        for each in body.findall(".//div[@class='ran-on']/details")
    ]


@pytest.mark.parametrize("text", [FENCE, f"- item\n\n{indented(FENCE)}\n- item", f"!!! note\n\n{indented(FENCE)}\n"])
def test_an_output_stands_as_it_was_printed_below_the_code(own_root: Path, text: str) -> None:
    """Nothing in it is Markdown or HTML, and the summary says that the model was a stand-in."""
    html = rendered(data(own_root), text)
    assert folds(html) == [("Output on a CPU, with a tiny stand-in", OUTPUT)]
    assert 'class="ran-on" data-search-exclude' in html


@pytest.mark.parametrize(
    ("models", "title"),
    [
        ({}, "Output on a CPU"),
        ({"a/b": "real"}, "Output on a CPU"),
        ({"a/b": "real", "c": "stand-in"}, "Output on a CPU, with a tiny stand-in"),
        ({"a/b": "stand-in", "c": "stand-in"}, "Output on a CPU, with tiny stand-ins"),
    ],
)
def test_the_summary_names_stand_ins(own_root: Path, models: dict[str, str], title: str) -> None:
    """Their figures are not those of the real models."""
    assert folds(rendered(data(own_root, models=models), FENCE)) == [(title, OUTPUT)]


def test_the_last_of_two_regions_of_a_page_has_the_output(own_root: Path) -> None:
    """Once is enough."""
    html = rendered(data(own_root), FENCE + "\nBetween.\n\n" + FENCE.replace(":enable", ""))
    assert len(folds(html)) == 1
    assert html.index("Between.") < html.index("Output on")
    assert html.count("uv run snippets") == 2 * rendered(data(own_root), FENCE).count("uv run snippets")


def test_what_other_bytes_printed_is_not_shown(own_root: Path) -> None:
    """The page shows the bytes that printed it, or nothing."""
    assert folds(rendered(data(own_root, sha256="0" * 64), FENCE)) == []


def test_where_nothing_was_printed_nothing_is_folded(site: SiteData) -> None:
    """The line stays a paragraph."""
    html = rendered(site, FENCE)
    assert '<p class="ran-on"' in html
    assert "Output on" not in html


@pytest.mark.parametrize(("date", "place"), [("2026-11-20", "a CPU"), ("2026-11-21", "a GPU"), ("2026-11-22", "a GPU")])
def test_the_newest_run_is_shown_and_of_one_day_that_on_a_gpu(own_root: Path, date: str, place: str) -> None:
    """A run that printed nothing has nothing to show."""
    data(own_root)
    found = data(own_root, "h200", date=date, output=place, device="NVIDIA H200", models={})
    assert folds(rendered(found, FENCE))[0][0].startswith(f"Output on {place}")
    silent = data(own_root, "h200", date=date, output=None, device="NVIDIA H200", models={})
    assert folds(rendered(silent, FENCE))[0][0].startswith("Output on a CPU")


@pytest.mark.parametrize(
    ("text", "depth"),
    [(FENCE, ""), (f"- item\n\n{indented(FENCE)}\n- item", "    "), (f"!!! note\n\n{indented(FENCE)}\n", "")],
)
def test_in_plain_markdown_it_is_a_fence(own_root: Path, text: str, depth: str) -> None:
    """At the depth of the code, below the line that says where it ran; nothing in it ends the fence."""
    found = plain(text, data(own_root), PAGE)
    rows = ["Output on a CPU, with a tiny stand-in:", "", "````text", *OUTPUT.split("\n"), "````"]
    assert "\n".join(f"{depth}{row}".rstrip() for row in rows) in found
    assert f"\n{depth}Run it: `uv run snippets/training/clever.py`" in found.partition("Output on")[0]


def test_every_region_of_plain_markdown_has_its_line(site: SiteData) -> None:
    """Those that a link can name as well as those that stand on the page already."""
    source = (site.tree.root / "docs/training/guide.md").read_text("utf-8")
    assert plain(source, site, PAGE).count("Run it: ") == source.count('--8<-- "snippets/')

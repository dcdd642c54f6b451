"""The folded output of a snippet under its code."""

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
    """Return a text as the body of an item or an admonition."""
    return sub(r"(?m)^(?=.)", "    ", text)


def rendered(site: SiteData, text: str) -> str:
    """Return a page as HTML."""
    extensions = [
        "admonition",
        "pymdownx.superfences",
        "pymdownx.snippets",
        HeadroomExtension(site=site, page=lambda: PAGE),
    ]
    options = {"base_path": [str(site.tree.root)], "check_paths": True, "dedent_subsections": True}
    return markdown.markdown(text, extensions=extensions, extension_configs={"pymdownx.snippets": options})


def data(root: Path, name: str = "cpu", **changes: Any) -> SiteData:
    """Return the tree with a run record of this class that has an output, with these fields changed."""
    run = json.loads((root / RUN).read_text("utf-8"))
    run |= {"output": OUTPUT, "hardware_class": name, **changes}
    (root / RUN).with_name(f"{name}.json").write_text(json.dumps(run), "utf-8")
    found = SiteData.load(root)
    assert not found.tree.problems
    return found


def folds(html: str) -> list[tuple[str, str]]:
    """Return the summary and text of each output on a page."""
    body = ET.fromstring(f"<div>{html.replace('checked', '').replace('<input', '<br')}</div>")  # noqa: S314 - our own
    return [
        (each.findtext("summary", ""), each.findtext("div[@class='output no-copy']/pre/code", ""))
        for each in body.findall(".//div[@class='ran-on']/details")
    ]


@pytest.mark.parametrize("text", [FENCE, f"- item\n\n{indented(FENCE)}\n- item", f"!!! note\n\n{indented(FENCE)}\n"])
def test_the_output_is_shown_verbatim_below_the_code(own_root: Path, text: str) -> None:
    """Markdown and HTML in it are escaped, and the summary mentions stand-ins."""
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
    assert folds(rendered(data(own_root, models=models), FENCE)) == [(title, OUTPUT)]


def test_only_the_last_region_of_a_page_has_the_output(own_root: Path) -> None:
    html = rendered(data(own_root), FENCE + "\nBetween.\n\n" + FENCE.replace(":enable", ""))
    assert len(folds(html)) == 1
    assert html.index("Between.") < html.index("Output on")
    assert html.count("uv run snippets") == 2 * rendered(data(own_root), FENCE).count("uv run snippets")


def test_output_of_an_older_version_is_not_shown(own_root: Path) -> None:
    assert folds(rendered(data(own_root, sha256="0" * 64), FENCE)) == []


def test_an_empty_output_has_no_fold(site: SiteData) -> None:
    html = rendered(site, FENCE)
    assert '<p class="ran-on"' in html
    assert "Output on" not in html


@pytest.mark.parametrize(("date", "place"), [("2026-11-20", "a CPU"), ("2026-11-21", "a GPU"), ("2026-11-22", "a GPU")])
def test_the_newest_output_is_shown_and_a_gpus_on_the_same_day(own_root: Path, date: str, place: str) -> None:
    data(own_root)
    found = data(own_root, "h200", date=date, output=place, device="NVIDIA H200", models={})
    assert folds(rendered(found, FENCE))[0][0].startswith(f"Output on {place}")
    silent = data(own_root, "h200", date=date, output=None, device="NVIDIA H200", models={})
    assert folds(rendered(silent, FENCE))[0][0].startswith("Output on a CPU")


@pytest.mark.parametrize(
    ("text", "depth"),
    [(FENCE, ""), (f"- item\n\n{indented(FENCE)}\n- item", "    "), (f"!!! note\n\n{indented(FENCE)}\n", "")],
)
def test_plain_markdown_has_the_output_in_a_fence(own_root: Path, text: str, depth: str) -> None:
    """The fence has the code's indentation and is longer than any fence inside."""
    found = plain(text, data(own_root), PAGE)
    rows = ["Output on a CPU, with a tiny stand-in:", "", "````text", *OUTPUT.split("\n"), "````"]
    assert "\n".join(f"{depth}{row}".rstrip() for row in rows) in found
    assert f"\n{depth}Run it: `uv run snippets/training/clever.py`" in found.partition("Output on")[0]


def test_every_region_of_plain_markdown_has_its_line(site: SiteData) -> None:
    """Include regions that are shown twice."""
    source = (site.tree.root / "docs/training/guide.md").read_text("utf-8")
    assert plain(source, site, PAGE).count("Run it: ") == source.count('--8<-- "snippets/')

"""Pictures: figures come from formulas, recorded rows and claims, and every drawing has a text alternative."""

import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from headroom.pictures import (
    batch_masks,
    canvas,
    decision,
    gallery,
    load_curves,
    memory_timeline,
    printed_rows,
    published_curves,
    stacked_bars,
)
from headroom.records import Tree, load
from headroom.records.pictures import Bars, BatchLayouts, Decision, LoadCurves, NumberFormats, PublishedCurves, Timeline
from headroom.records.published_rows import Table
from headroom.verdicts import Board, judge_all

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in (ROOT / "checks/pictures").glob("*.yml"))


@lru_cache(maxsize=1)
def judged() -> tuple[Tree, Board]:
    """Return the repository's records with their verdicts."""
    tree = load(ROOT)
    return tree, judge_all(tree)


def none(address: str) -> object:
    """Look up no fact and no claim."""
    raise LookupError(address)


@pytest.mark.parametrize("name", NAMES)
def test_each_picture_is_well_formed_and_has_a_text_alternative(name: str) -> None:
    """An SVG has a role, a title and a description; a decision has a label and its questions in words."""
    found = gallery.picture(name, *judged())
    if isinstance(found, Decision):
        element = decision.element(found, lambda section: section)
        assert element.get("aria-label") == found.title
        assert all(question.ask in decision.description(found) for question in found.questions)
        return
    svg = ET.fromstring(canvas.svg(found))  # noqa: S314 - our own output
    assert svg.get("role") == "img"
    assert [child.text for child in svg if child.tag.endswith(("title", "desc"))] == [found.title, found.description]
    layouts = [child for child in svg if child.get("class") in ("narrow", "wide")]
    assert [each.get("viewBox", "").split()[2] for each in layouts] == ["328", "688"]


def test_bars_show_the_results_of_their_formulas() -> None:
    """A let of a panel is added to those of the picture, and an empty component is left out."""
    data = Bars.model_validate(
        {
            "kind": "bars",
            "title": "Memory",
            "unit": "GiB",
            "let": {"one": "1 GiB"},
            "panels": {"small": {"n": 1}, "large": {"n": 3}},
            "lines": {"2 GiB": "2 GiB"},
            "bars": [{"name": "all", "parts": {"weights": "n*one", "gradients": "0*one"}}],
        }
    )
    found = stacked_bars.panels(data, none)  # type: ignore[arg-type]
    assert [row.parts for panel in found for row in panel.rows] == [{"weights": 1}, {"weights": 3}]
    words = stacked_bars.picture("memory", data, none).description  # type: ignore[arg-type]
    assert "small, all: 1 GiB (weights 1), below 2 GiB." in words
    assert "large, all: 3 GiB (weights 3), above 2 GiB." in words


@pytest.mark.parametrize("layout", [0, 1], ids=["narrow", "wide"])
def test_panels_share_one_scale_and_every_line_has_its_label(layout: int) -> None:
    """Two models are compared by eye, and no card is without its name."""
    found = gallery.picture("recipes", *judged())
    assert not isinstance(found, Decision)
    svg = ET.fromstring(canvas.svg(found))  # noqa: S314 - our own output
    drawing = [child for child in svg if child.get("class") in ("narrow", "wide")][layout]
    lines = [each.get("x1") for each in drawing.iter() if each.get("class") == "mu dash"]
    texts = [each for each in drawing.iter() if each.tag.endswith("text") and each.get("class") == "s b mid"]
    cards = ["16 GiB", "24 GiB", "48 GiB", "80 GiB"]
    assert [each.text for each in texts] == cards * 3
    assert (len(lines), lines) == (12, lines[:4] * 3)
    assert len({(each.get("x"), each.get("y")) for each in texts}) == len(texts)


def test_the_timeline_reads_the_peak_from_the_recorded_rows() -> None:
    """The peak is the largest sum of a row, and its phase and components are in the description."""
    data = Timeline.model_validate(
        {
            "kind": "timeline",
            "title": "A step",
            "snippet": "training/step",
            "unit": "GiB",
            "panels": ({"rows": "full", "title": "Without"},),
        }
    )
    output = "full: 1 forward 1 2 0 0 0 0\nother: 9 forward 9 9 9 9 9 9\nfull: 2 backward 1 2 0 4 0 0.5\n"
    words = memory_timeline.picture("step", data, output).description
    expected = "Without: the peak is 7.5 GiB, in backward: weights 1, optimizer states 2, saved activations 4"
    assert words.startswith(expected)


def test_curves_name_the_first_and_last_printed_point() -> None:
    """Points out of order, or rows that are not two numbers, are errors."""
    data = LoadCurves.model_validate(
        {"kind": "load-curves", "title": "T", "snippet": "a/b", "x": "%", "y": "s", "curves": {"mean latency": "mean"}}
    )
    output = "mean: 50 4\np99: 50 9\nmean: 90 4.5\nmean: 99 18\n"
    found = load_curves.picture("knee", data, output)
    assert found.description == "mean latency, in s: 4 at 50, 18 at 99 %."
    assert canvas.svg(found).count(">18<") == 2
    with pytest.raises(ValueError, match="in the order of the load"):
        load_curves.picture("knee", data, "mean: 90 4\nmean: 50 5\n")
    with pytest.raises(ValueError, match="unpack"):
        load_curves.picture("knee", data, "mean: 90 4 5\n")


def _published(**changed: object) -> canvas.Picture:
    """Return a picture of made rows, with changed fields of its curve."""
    rows = ({"card": "a", "size": "1K", "GB/s": "2"}, {"card": "a", "size": "2M", "GB/s": "8"})
    tables = {"made/up.csv": Table(("card", "size", "GB/s"), rows, "0" * 64)}
    curve = {"rows": "made/up.csv", "where": {"card": "a"}, "x": "size", "y": "GB/s", **changed}
    data = {"kind": "published-curves", "title": "T", "x": "size", "y": "GB/s", "ticks": {"1 KB": 1e3, "1 MB": 1e6}}
    return published_curves.picture("p", PublishedCurves.model_validate({**data, "curves": {"c": curve}}), tables)


def test_published_curves_are_the_selected_rows() -> None:
    """Prefixes count; a share is of the named row; rows that do not exist, or that are no numbers, are errors."""
    assert _published().description == "c, in GB/s: 2 at 1,000, 8 at 2,000,000 (size)."
    assert _published(full="2M").description == "c, in GB/s: 25 at 1,000, 100 at 2,000,000 (size)."
    assert canvas.svg(_published(full="2M")).count(">100<") >= 2
    wrong = {"rows": "made/other.csv", "y": "GiB", "full": "3M", "where": {"card": "b"}}
    for field, found in wrong.items():
        with pytest.raises(LookupError, match=r"no rows|no column|0 of them|0 rows"):
            _published(**{field: found})
    with pytest.raises(ValueError, match="`a` is no number"):
        _published(x="card")


def test_rows_that_were_not_printed_are_an_error() -> None:
    """The message names the missing rows."""
    with pytest.raises(LookupError, match="begins with `full:`"):
        printed_rows.rows_of("other: 1 2", "full")


def test_masks_count_waste_and_leaks() -> None:
    """Two sequences of 2 and 1 tokens: padding wastes scores, a plain causal mask connects the sequences."""
    data = BatchLayouts.model_validate({"kind": "batch-layouts", "title": "Two sequences", "lengths": (2, 1), "row": 3})
    words = batch_masks.picture("two", data).description
    assert "3 tokens in 4 slots, 4 scores wasted" in words
    assert "3 tokens in 3 slots, 2 scores between sequences" in words


# The bits, the step after 1 and the smallest normal number of torch's formats; a child imports torch, this process not.
LIMITS = """
import json, torch
names = ("float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")
infos = (torch.finfo(getattr(torch, name)) for name in names)
print(json.dumps([[info.bits, info.eps, info.smallest_normal] for info in infos]))
"""


def test_the_bits_of_number_formats_are_those_of_torch() -> None:
    """The bits add up, and the smallest step from 1 and the smallest normal number follow from them."""
    data = judged()[0].pictures["number-formats"]
    assert isinstance(data, NumberFormats)
    formats = {each.name: each for each in data.formats}
    done = subprocess.run([sys.executable, "-c", LIMITS], capture_output=True, text=True, check=True)
    names = ("fp32", "bf16", "fp16", "fp8 E4M3", "fp8 E5M2")
    for name, (bits, step, smallest) in zip(names, json.loads(done.stdout), strict=True):
        found = formats[name]
        assert found.sign + found.exponent + found.mantissa == bits
        assert step == 2**-found.mantissa
        assert smallest == 2 ** (2 - 2 ** (found.exponent - 1))


def test_the_recorded_peak_is_lower_with_checkpointing() -> None:
    """Both panels of the recorded step have the same weights and the same logits at the peak."""
    found = gallery.picture("memory-over-a-step", *judged())
    assert not isinstance(found, Decision)
    without, with_, *_ = found.description.split(". With gradient")
    assert without.count("logits 11.7") == with_.count("logits 11.7") == 1

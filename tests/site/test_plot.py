"""Plots of claims without a sweep, and the parts that all plots share."""

from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from headroom.records import MeasuredClaim
from headroom.site.claims.points_table import Series
from headroom.site.plots import plot
from headroom.site.plots.scales import Scale, ratios, tick
from headroom.site.site_data import SiteData
from headroom.verdicts import PointVerdict

NS = {"s": "http://www.w3.org/2000/svg"}


def points_of(site: SiteData, name: str) -> tuple[MeasuredClaim, tuple[PointVerdict, ...]]:
    """Return a claim and its points on a CPU."""
    claim = site.tree.claims[f"training.{name}"]
    assert isinstance(claim, MeasuredClaim)
    verdict = site.board.of(claim, "cpu").verdict
    assert verdict is not None
    return claim, verdict.points


def drawn(claim: MeasuredClaim, points: tuple[PointVerdict, ...]) -> ET.Element:
    """Return the drawing as XML."""
    return ET.fromstring(plot.svg(claim, [Series("an x86 <CPU>", points)]))  # noqa: S314 - our own output


def percent(element: ET.Element | None, name: str) -> float:
    """Return a horizontal coordinate in percent."""
    assert element is not None
    text = element.get(name, "")
    assert text.endswith("%")
    return float(text[:-1])


def whiskers(root: ET.Element) -> list[ET.Element]:
    """Return the lines of intervals without the caps at their ends."""
    lines = [line for line in root.findall("s:line", NS) if line.get("class") == "whisker"]
    return [line for line in lines if line.get("y1") == line.get("y2")]


@pytest.mark.parametrize("name", ["memory", "time", "slower"])
def test_a_row_has_one_mark_and_a_dot_per_block(site: SiteData, name: str) -> None:
    """The drawing has a title and a description that its root refers to."""
    claim, points = points_of(site, name)
    root = drawn(claim, points)
    assert root.get("role") == "img"
    for attribute, tag in (("aria-labelledby", "title"), ("aria-describedby", "desc")):
        found = root.find(f"s:{tag}", NS)
        assert found is not None
        assert found.get("id") == root.get(attribute)
    assert "an x86 <CPU>" in root.findtext("s:title", "", NS)
    assert points[0].verdict in root.findtext("s:desc", "", NS)
    assert len(root.findall("s:svg[@class='point']", NS)) == 1
    assert len(root.findall("s:circle[@class='block']", NS)) == 20


@pytest.mark.parametrize("name", ["memory", "time", "slower"])
def test_whiskers_and_marks_are_at_their_values(site: SiteData, name: str) -> None:
    """The axis is logarithmic; better is to the right of 1."""
    claim, points = points_of(site, name)
    root = drawn(claim, points)
    one = percent(root.find("s:line[@class='one']", NS), "x1")
    mark = root.find("s:svg[@class='point']", NS)
    assert mark is not None
    assert mark.find("s:g", NS).get("class") == f"mark mark-{points[0].verdict}"  # type: ignore[union-attr]
    middle = percent(mark, "x")
    assert (middle > one) == (points[0].ratio > 1)
    exact = points[0].low == points[0].high
    assert len(whiskers(root)) == (0 if exact else 1)
    for whisker in whiskers(root):
        low, high = percent(whisker, "x1"), percent(whisker, "x2")
        assert low < middle < high
        assert (low > one) == (points[0].low > 1)


def test_each_class_has_a_row_with_its_name(site: SiteData) -> None:
    claim, points = points_of(site, "time")
    series = [Series("an H200", points), Series("one thread of an x86 CPU", points)]
    root = ET.fromstring(plot.svg(claim, series))  # noqa: S314 - our own output
    assert [text.text for text in root.findall("s:text[@class='row']", NS)] == ["H200", "x86 CPU"]
    heights = [float(str(mark.get("y"))) for mark in root.findall("s:svg[@class='point']", NS)]
    assert heights == sorted(set(heights))
    assert len(heights) == 2


@pytest.mark.parametrize("name", ["time", "slower"])
def test_each_dot_is_the_improvement_of_its_block(site: SiteData, name: str) -> None:
    claim, points = points_of(site, name)
    root = drawn(claim, points)
    one = percent(root.find("s:line[@class='one']", NS), "x1")
    dots = [percent(dot, "cx") for dot in root.findall("s:circle[@class='block']", NS)]
    assert all((dot > one) == (points[0].ratio > 1) for dot in dots)
    found = ratios(claim, points[0])
    assert found == [a / b for a, b in zip(points[0].baseline, points[0].subject, strict=True)]
    assert sorted(range(20), key=dots.__getitem__) == sorted(range(20), key=found.__getitem__)


def test_the_axis_is_logarithmic(site: SiteData) -> None:
    scale = Scale.over([0.5, 8.0])
    places = [scale.place(value) for value in (0.5, 1, 2, 4, 8)]
    steps = [b - a for a, b in pairwise(places)]
    assert steps == pytest.approx([steps[0]] * 4)
    assert 0 < places[0] < places[-1] < 100
    claim, points = points_of(site, "time")
    for element in drawn(claim, points).iter():
        for name in ("x", "x1", "x2", "cx"):
            if element.get(name, "").endswith("%"):
                assert 0 <= percent(element, name) <= 100


@pytest.mark.parametrize("values", [[1.0], [1.001], [0.2, 30.0], [1.0, 1.05], [1.3], [0.7, 1.24], [2.6], [500.0]])
def test_ticks_are_few_and_round_and_include_one(values: list[float]) -> None:
    scale = Scale.over(values)
    ticks = scale.ticks()
    assert 1.0 in ticks
    assert 1 <= len(ticks) <= 6
    assert all(scale.low <= each <= scale.high for each in ticks)
    assert len({tick(each) for each in ticks}) == len(ticks)
    assert all(len(tick(each)) <= 6 for each in ticks)
    assert all(float(tick(each)[:-1]) == pytest.approx(each, rel=1e-9) for each in ticks if each != 1)


def test_the_band_covers_differences_too_small_to_count(site: SiteData) -> None:
    """Its width is the least effect or the margin."""
    claim, points = points_of(site, "time")
    alike = claim.model_copy(update={"margin": 0.05, "relation": "equal_within"})
    wide = []
    for each in (claim, alike):
        root = drawn(each, points)
        band = root.find("s:rect[@class='zone']", NS)
        one = percent(root.find("s:line[@class='one']", NS), "x1")
        assert percent(band, "x") < one < percent(band, "x") + percent(band, "width")
        wide.append(percent(band, "width"))
    assert wide[0] < wide[1]


def test_a_point_without_a_result_has_a_label_and_no_whisker(site: SiteData) -> None:
    claim, points = points_of(site, "time")
    nothing = replace(
        points[0], verdict="inconclusive", ratio=float("nan"), low=0.0, high=float("inf"), n=0, baseline=(), subject=()
    )
    root = drawn(claim, (nothing,))
    assert not whiskers(root)
    assert root.find("s:svg", NS) is None
    assert "no interval" in root.findtext("s:desc", "", NS)


@pytest.mark.parametrize("name", ["time", "sweep"])
def test_a_plot_is_reproducible_small_and_one_block_of_html(site: SiteData, name: str) -> None:
    claim, points = points_of(site, name)
    first = plot.figure(claim, [Series("a CPU", points)])
    assert first == plot.figure(claim, [Series("a CPU", points)])
    assert len(first) < 8_000
    assert "\n\n" not in first

"""The plot of a session."""

from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from headroom.records import MeasuredClaim
from headroom.site import plot
from headroom.site.context import SiteData
from headroom.verdicts import PointVerdict

NS = {"s": "http://www.w3.org/2000/svg"}


def points_of(site: SiteData, name: str) -> tuple[MeasuredClaim, tuple[PointVerdict, ...]]:
    """A claim and its verdicts on a CPU."""
    claim = site.tree.claims[f"training.{name}"]
    assert isinstance(claim, MeasuredClaim)
    verdict = site.board.of(claim, "cpu").verdict
    assert verdict is not None
    return claim, verdict.points


def drawn(claim: MeasuredClaim, points: tuple[PointVerdict, ...]) -> ET.Element:
    """The drawing as XML."""
    return ET.fromstring(plot.svg(claim, points, "an x86 <CPU>"))  # noqa: S314 - our own output


def percent(element: ET.Element | None, name: str) -> float:
    """A horizontal place."""
    assert element is not None
    text = element.get(name, "")
    assert text.endswith("%")
    return float(text[:-1])


@pytest.mark.parametrize("name", ["memory", "time", "slower", "sweep", "part"])
def test_each_point_has_one_whisker_and_a_dot_a_block(site: SiteData, name: str) -> None:
    """And the drawing has a title and a description in words."""
    claim, points = points_of(site, name)
    root = drawn(claim, points)
    assert root.get("role") == "img"
    assert "an x86 <CPU>" in root.findtext("s:title", "", NS)
    assert all(point.verdict in root.findtext("s:desc", "", NS) for point in points)
    whiskers = [line for line in root.findall("s:line", NS) if "whisker" in line.get("class", "")]
    assert len(whiskers) == len(points)
    assert len(root.findall("s:circle[@class='block']", NS)) == 20 * len(points)


@pytest.mark.parametrize("name", ["time", "slower", "sweep"])
def test_whiskers_and_marks_stand_where_their_values_are(site: SiteData, name: str) -> None:
    """A value's place between two ticks is that of its logarithm; right of the line at 1 is better."""
    claim, points = points_of(site, name)
    root = drawn(claim, points)
    one = percent(root.find("s:line[@class='one']", NS), "x1")
    whiskers = [line for line in root.findall("s:line", NS) if "whisker" in line.get("class", "")]
    for point, whisker, mark in zip(points, whiskers, root.findall("s:svg", NS), strict=True):
        low, high, middle = percent(whisker, "x1"), percent(whisker, "x2"), percent(mark, "x")
        assert low <= middle <= high
        assert (low > one) == (point.low > 1)
        assert (high > one) == (point.high > 1)
        assert mark[0].get("class") == f"mark mark-{point.verdict}"


@pytest.mark.parametrize("name", ["time", "slower"])
def test_each_dot_is_the_improvement_of_its_block(site: SiteData, name: str) -> None:
    """A block in which the subject took less time stands right of the line at 1, at its own ratio."""
    claim, points = points_of(site, name)
    root = drawn(claim, points)
    one = percent(root.find("s:line[@class='one']", NS), "x1")
    dots = [percent(dot, "cx") for dot in root.findall("s:circle[@class='block']", NS)]
    assert all((dot > one) == (points[0].ratio > 1) for dot in dots)
    found = plot.ratios(claim, points[0])
    assert found == [a / b for a, b in zip(points[0].baseline, points[0].subject, strict=True)]
    assert sorted(range(20), key=dots.__getitem__) == sorted(range(20), key=found.__getitem__)


def test_the_axis_is_logarithmic(site: SiteData) -> None:
    """Equal ratios are equal distances, and every place is on the paper."""
    scale = plot.Scale.over([0.5, 8.0])
    places = [scale.place(value) for value in (0.5, 1, 2, 4, 8)]
    steps = [b - a for a, b in pairwise(places)]
    assert steps == pytest.approx([steps[0]] * 4)
    assert 0 < places[0] < places[-1] < 100
    claim, points = points_of(site, "sweep")
    for element in drawn(claim, points).iter():
        for name in ("x", "x1", "x2", "cx"):
            if element.get(name, "").endswith("%"):
                assert 0 <= percent(element, name) <= 100


@pytest.mark.parametrize("values", [[1.0], [1.001], [0.2, 30.0], [1.0, 1.05], [500.0]])
def test_ticks_are_few_round_and_hold_one(values: list[float]) -> None:
    """On any axis."""
    scale = plot.Scale.over(values)
    ticks = scale.ticks()
    assert 1.0 in ticks
    assert 1 <= len(ticks) <= 8
    assert all(scale.low <= tick <= scale.high for tick in ticks)


def test_the_band_is_what_does_not_count(site: SiteData) -> None:
    """From 1 to the least effect, or both sides of 1 by the margin."""
    claim, points = points_of(site, "time")
    band = drawn(claim, points).find("s:rect[@class='zone']", NS)
    assert band is not None
    assert percent(band, "width") > 0
    alike = claim.model_copy(update={"margin": 0.05, "relation": "equal_within"})
    root = drawn(alike, points)
    wide = root.find("s:rect[@class='zone']", NS)
    one = percent(root.find("s:line[@class='one']", NS), "x1")
    assert percent(wide, "x") < one < percent(wide, "x") + percent(wide, "width")


def test_a_point_without_a_result_has_a_label_and_no_whisker(site: SiteData) -> None:
    """Nothing is drawn where nothing is known."""
    claim, points = points_of(site, "time")
    nothing = replace(
        points[0], verdict="inconclusive", ratio=float("nan"), low=0.0, high=float("inf"), n=0, baseline=(), subject=()
    )
    root = drawn(claim, (nothing,))
    assert not [line for line in root.findall("s:line", NS) if "whisker" in line.get("class", "")]
    assert "no interval" in "".join(root.itertext())


def test_the_same_session_gives_the_same_bytes(site: SiteData) -> None:
    """The spread of the dots is no chance, and a plot of a sweep stays small."""
    claim, points = points_of(site, "sweep")
    first = plot.figure(claim, points, "a CPU")
    assert first == plot.figure(claim, points, "a CPU")
    assert len(first) < 8_000
    assert "\n\n" not in first

"""The plot of a sweep: points, intervals, crossover and labels."""

from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from headroom.records import MeasuredClaim
from headroom.site.claims.points_table import Series
from headroom.site.plots import plot
from headroom.site.plots.scales import Grid
from headroom.site.site_data import SiteData
from headroom.verdicts import PointVerdict

NS = {"s": "http://www.w3.org/2000/svg"}


@pytest.fixture
def claim(site: SiteData) -> MeasuredClaim:
    """Return a claim at 1, 8 and 64 sequences, contradicted at 1."""
    found = site.tree.claims["training.sweep"]
    assert isinstance(found, MeasuredClaim)
    return found


@pytest.fixture
def points(site: SiteData, claim: MeasuredClaim) -> tuple[PointVerdict, ...]:
    """Return the claim's verdicts."""
    verdict = site.board.of(claim, "cpu").verdict
    assert verdict is not None
    assert [point.verdict for point in verdict.points] == ["contradicted", "supported", "supported"]
    return verdict.points


def drawn(claim: MeasuredClaim, *series: tuple[PointVerdict, ...]) -> ET.Element:
    """Return the drawing as XML."""
    named = [Series(name, points) for name, points in zip(("an H200", "an H100 SXM", "a CPU"), series, strict=False)]
    return ET.fromstring(plot.svg(claim, named))  # noqa: S314 - our own output


def number(element: ET.Element, name: str) -> float:
    """Return a coordinate in percent or pixels."""
    return float(element.get(name, "").removesuffix("%"))


def texts(root: ET.Element, kind: str) -> list[str]:
    """Return the labels of one kind."""
    return ["".join(text.itertext()) for text in root.iterfind(f".//s:text[@class='{kind}']", NS)]


def height(mark: ET.Element) -> float:
    """Return the vertical position of a point's mark."""
    moved = [group.get("transform", "") for group in mark.findall("s:g", NS)]
    return float(moved[0].removeprefix("translate(0 ").removesuffix(")"))


def test_points_have_the_position_of_their_value_and_the_shape_of_their_verdict(
    claim: MeasuredClaim, points: tuple[PointVerdict, ...]
) -> None:
    """A cross is contradicted, a filled mark supported, an open one unresolved."""
    unknown = replace(points[1], verdict="inconclusive", reason="wide", low=0.9, high=1.9)
    root = drawn(claim, (points[0], unknown, points[2]))
    marks = root.findall(".//s:svg[@class='point']", NS)
    assert [number(mark, "x") for mark in marks] == pytest.approx([8, 50, 92])  # 1, 8, 64: equal steps
    one = next(number(line, "y1") for line in root.findall("s:line[@class='one']", NS))
    heights = [height(mark) for mark in marks]
    assert heights[0] > one > heights[1] > heights[2]
    shapes = [
        (group.get("class"), group[0].tag.rpartition("}")[2])
        for mark in marks
        for group in mark.iterfind("s:g/s:g", NS)
    ]
    assert shapes == [
        ("mark mark-contradicted", "path"),
        ("mark mark-inconclusive", "circle"),
        ("mark mark-supported", "circle"),
    ]
    assert [mark.find("s:path[@class='whisker']", NS) is not None for mark in marks] == [False, True, False]


def test_the_crossover_is_hatched_and_labelled(claim: MeasuredClaim, points: tuple[PointVerdict, ...]) -> None:
    """An unresolved point widens the range."""
    root = drawn(claim, points)
    (band,) = root.findall("s:rect[@class='crossover']", NS)
    assert (number(band, "x"), number(band, "width")) == (8, 42)
    (pattern,) = root.findall("s:pattern", NS)
    assert band.get("fill") == f"url(#{pattern.get('id')})"
    assert texts(root, "between") == ["changes between 1 and 8 sequences"]
    wider = (points[0], replace(points[1], verdict="inconclusive"), points[2])
    root = drawn(claim, wider)
    assert number(root.findall("s:rect[@class='crossover']", NS)[0], "width") == 84
    assert texts(root, "between") == ["changes between 1 and 64 sequences"]


def test_two_crossovers_have_two_hatchings(claim: MeasuredClaim, points: tuple[PointVerdict, ...]) -> None:
    """The slants differ, and the caption names the class of each."""
    later = (points[0], replace(points[1], verdict="contradicted"), points[2])
    root = drawn(claim, points, later)
    assert len(root.findall("s:rect[@class='crossover']", NS)) == 2
    assert len({pattern.get("patternTransform") for pattern in root.findall("s:pattern", NS)}) == 2
    assert texts(root, "between") == []
    assert len(drawn(claim, points, points).findall("s:rect[@class='crossover']", NS)) == 1


def test_an_interval_smaller_than_its_mark_is_not_drawn(claim: MeasuredClaim, points: tuple[PointVerdict, ...]) -> None:
    narrow = tuple(replace(point, low=point.ratio * 0.99, high=point.ratio * 1.01) for point in points)
    assert drawn(claim, narrow).find(".//s:path[@class='whisker']", NS) is None


@pytest.mark.parametrize("letters", ["sss", "ccc", "scs", "iss"])
def test_nothing_is_hatched_without_exactly_one_crossover(
    claim: MeasuredClaim, points: tuple[PointVerdict, ...], letters: str
) -> None:
    """Cases: no crossover, several, or one side unresolved."""
    words = {"s": "supported", "c": "contradicted", "i": "inconclusive"}
    changed = tuple(replace(point, verdict=words[each]) for point, each in zip(points, letters, strict=True))  # type: ignore[arg-type]
    root = drawn(claim, changed)
    assert root.find("s:rect[@class='crossover']", NS) is None
    assert texts(root, "between") == []


def test_axes_have_titles_with_units(claim: MeasuredClaim, points: tuple[PointVerdict, ...]) -> None:
    root = drawn(claim, points)
    labels = texts(root, "axis")
    for label in ("same", "2×", "Saved-activation memory, baseline ÷ subject", "1", "8", "64", "sequences in a batch"):
        assert label in labels
    sweep = {"axis": "tokens", "unit": "tokens", "grid": (256, 1024, 8192)}
    scope = claim.scope.model_copy(update={"sweep": claim.scope.sweep.model_copy(update=sweep)})  # type: ignore[union-attr]
    moved = tuple(replace(p, point={"tokens": n}) for p, n in zip(points, (256, 1024, 8192), strict=True))
    labels = texts(drawn(claim.model_copy(update={"scope": scope}), moved), "axis")
    assert {"256", "1,024", "8,192", "tokens"} <= {*labels}


def test_classes_differ_in_shape_and_dash_and_have_labels(
    claim: MeasuredClaim, points: tuple[PointVerdict, ...]
) -> None:
    """Labels do not overlap."""
    slower = tuple(replace(p, ratio=p.ratio * 0.9, low=p.low * 0.9, high=p.high * 0.9) for p in points)
    root = drawn(claim, points, slower, slower)
    groups = [group for group in root.findall("s:g", NS) if group.get("class", "").startswith("series ")]
    assert [group.get("class") for group in groups] == ["series series-0", "series series-1", "series series-2"]
    last = [group.findall("s:svg", NS)[-1].find("s:g/s:g", NS) for group in groups]
    assert len({ET.tostring(mark[0]) for mark in last if mark is not None}) == 3
    names = [text for text in root.findall("s:text", NS) if text.get("class", "").startswith("name ")]
    assert [text.text for text in names] == ["H200", "H100 SXM", "CPU"]
    places = sorted(number(text, "y") for text in names)
    assert all(b - a >= 16 for a, b in pairwise(places))


def test_every_coordinate_is_inside_the_drawing(claim: MeasuredClaim, points: tuple[PointVerdict, ...]) -> None:
    """Horizontal coordinates are percentages, so that text keeps its size on narrow pages."""
    root = drawn(claim, points)
    assert root.get("width") == "100%"
    for element in root.iter():
        for name in ("x", "x1", "x2"):
            if element.get(name, "").endswith("%"):
                assert 0 <= number(element, name) <= 100 or element.get("class") == "between"
        for name in ("y", "y1", "y2"):
            assert 0 <= number(element, name) <= number(root, "height") if element.get(name) else True


@pytest.mark.parametrize("number_of_points", [6, 16])
def test_tick_labels_do_not_overlap(
    claim: MeasuredClaim, points: tuple[PointVerdict, ...], number_of_points: int
) -> None:
    """Every value has a tick; the last value always has a label."""
    grid = tuple(1000 * 2**i for i in range(number_of_points))
    scope = claim.scope.model_copy(update={"sweep": claim.scope.sweep.model_copy(update={"grid": grid})})  # type: ignore[union-attr]
    many = tuple(replace(points[-1], point={"batch_size": value}) for value in grid)
    root = drawn(claim.model_copy(update={"scope": scope}), many)
    named = [text for text in root.findall("s:text", NS) if (text.text or "").replace(",", "").isdigit()]
    assert f"{grid[-1]:,}" in {text.text for text in named}
    places = sorted((number(text, "x"), len(text.text or "")) for text in named)
    assert all(right - left > 100 * 7 * (m + n) / 2 / 260 for (left, m), (right, n) in pairwise(places))
    assert len([line for line in root.findall("s:line", NS) if line.get("y1") == "256"]) == number_of_points


@pytest.mark.parametrize(
    ("grid", "logarithmic", "middle"),
    [
        ((1, 2, 4), True, 50),
        ((256, 512, 1024), True, 50),
        ((0, 0.5, 1), False, 50),
        ((1, 2, 3), False, 50),
        ((2, 8), True, None),
        ((1, 4, 5), True, 79.5),
    ],
)
def test_the_axis_is_logarithmic_unless_steps_are_equal_or_a_value_is_zero(
    grid: tuple[float, ...], logarithmic: object, middle: float | None
) -> None:
    axis = Grid(tuple(map(float, grid)))
    assert axis.logarithmic is logarithmic
    assert (axis.place(grid[0]), axis.place(grid[-1])) == pytest.approx((8, 92))
    if middle is not None:
        assert axis.place(grid[1]) == pytest.approx(middle, abs=1)


def test_a_point_without_a_result_is_left_out(claim: MeasuredClaim, points: tuple[PointVerdict, ...]) -> None:
    """The description mentions it; a class without results has no label."""
    nothing = replace(
        points[0], verdict="inconclusive", ratio=float("nan"), low=0.0, high=float("inf"), n=0, baseline=(), subject=()
    )
    root = drawn(claim, (nothing, points[1], points[2]), (nothing, nothing, nothing))
    assert len(root.findall(".//s:svg[@class='point']", NS)) == 2
    assert "no interval" in root.findtext("s:desc", "", NS)
    assert [text.text for text in root.findall("s:text", NS) if text.get("class", "").startswith("name ")] == ["H200"]


def test_the_caption_explains_only_what_is_drawn(claim: MeasuredClaim, points: tuple[PointVerdict, ...]) -> None:
    alone = plot.figure(claim, [Series("an H200", points)])
    assert "Above “same”, clever is better than plain. Both axes are logarithmic." in alone
    assert "● supported, × contradicted; grey band: less than 2\u00a0%" in alone
    assert "not resolved" not in alone
    assert "whiskers" not in alone
    assert "Hatched: the verdict changes somewhere in here." in alone
    two = plot.figure(claim, [Series("an H200", points), Series("an H100 SXM", points)])
    both = "between 1 and 8 sequences on an H200, between 1 and 8 sequences on an H100 SXM."
    assert f"Hatched: the verdict changes {both}" in two

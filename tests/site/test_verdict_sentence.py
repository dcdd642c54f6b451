"""Sentences about verdicts."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from headroom.records import MeasuredClaim
from headroom.records.claims import Sweep
from headroom.site.claims import phrasing, points_table, sweep_phrases, verdict_sentence
from headroom.site.claims.points_table import Series
from headroom.site.site_data import SiteData
from headroom.verdicts import PointVerdict, Status
from headroom.verdicts.crossover import Shape

BYTES, TIME, RATE = {"name": "peak_allocated"}, {"name": "step_time"}, {"name": "throughput"}


@pytest.fixture
def a_claim(site: SiteData) -> Callable[..., MeasuredClaim]:
    """Return a function that makes a claim with a metric and an optional sweep."""
    plain = site.tree.claims["training.time"].model_dump(mode="json")

    def made(metric: dict[str, str], *grid: float, **changes: Any) -> MeasuredClaim:
        swept = {"sweep": {"axis": "tokens", "unit": "tokens", "grid": list(grid)}} if grid else {}
        scope = {"fixed": {}, "hardware": ["cpu"], **swept, **changes.pop("scope", {})}
        return MeasuredClaim.model_validate({**plain, "metric": metric, "scope": scope, **changes})

    return made


def point(
    ratio: float, verdict: str, reason: str = "clear", *, at: float | None = None, wide: float = 1.001
) -> PointVerdict:
    """Return a point with this ratio of a metric for which lower is better."""
    place = {} if at is None else {"tokens": at}
    arms = ((2.0**30,) * 10, (2.0**30 / ratio,) * 10, (2.0**30,) * 10)
    return PointVerdict(place, bool(arms), verdict, reason, ratio, ratio / wide, ratio * wide, 10, 0.99, *arms)  # type: ignore[arg-type]


def points(grid: Sequence[float], *verdicts: tuple[float, str, str]) -> list[PointVerdict]:
    """Return points along a grid, each with its ratio, verdict and reason."""
    return [point(ratio, verdict, reason, at=at) for at, (ratio, verdict, reason) in zip(grid, verdicts, strict=True)]


def plain(text: str) -> str:
    """Return a text with ordinary spaces."""
    return text.replace("\u00a0", " ")


YES, SAME, WORSE, OPEN = (
    "supported",
    ("contradicted", "negligible"),
    ("contradicted", "reversed"),
    ("inconclusive", "wide"),
)
GRID = (256, 512, 1024, 2048)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (
            [(1.0, *SAME), (1.0, *SAME), (1.82, YES, "clear"), (1.9, YES, "clear")],
            "1.82 to 1.90 times faster from 1,024 tokens up; no difference at 256 and 512 tokens",
        ),
        (
            [(0.8, *WORSE), (1.0, *SAME), (1.1, *OPEN), (1.3, YES, "clear")],
            (
                "1.30 times faster from 2,048 tokens up; not resolved at 1,024 tokens (the interval is too wide); "
                "no difference at 512 tokens; worse at 256 tokens: 1.25 times slower"
            ),
        ),
        (
            [(1.1, YES, "clear"), (1.2, YES, "clear"), (1.0, *SAME), (0.9, *WORSE)],
            (
                "step time 9.1 % to 17 % shorter up to 512 tokens; no difference at 1,024 tokens; "
                "worse at 2,048 tokens: 11 % longer"
            ),
        ),
        (
            [(1.3, YES, "clear"), (1.0, *SAME), (1.3, YES, "clear"), (1.4, YES, "clear")],
            (
                "not the same way along the sweep: 1.30 times faster at 256 tokens; no difference at 512 tokens; "
                "1.30 to 1.40 times faster at 1,024 and 2,048 tokens"
            ),
        ),
        (
            [(1.1, *OPEN), (1.1, "inconclusive", "throttled"), (1.1, "inconclusive", "throttled"), (1.3, YES, "clear")],
            (
                "1.30 times faster from 2,048 tokens up; not resolved at 512 and 1,024 tokens (throttled); "
                "not resolved at 256 tokens (the interval is too wide)"
            ),
        ),
        ([(1.1, YES, "clear")] * 4, "step time 9.1 % shorter at 256, 512, 1,024 and 2,048 tokens"),
        ([(1.0, *SAME)] * 4, "no difference at 256, 512, 1,024 and 2,048 tokens"),
        (
            [(0.5, *WORSE), (0.8, *WORSE), (1.0, *SAME), (1.0, *SAME)],
            "worse at 256 and 512 tokens: 1.25 to 2.00 times slower; no difference at 1,024 and 2,048 tokens",
        ),
    ],
)
def test_a_sweeps_sentence_names_where_the_claim_holds(
    a_claim: Callable[..., MeasuredClaim], verdicts: list[tuple[float, str, str]], expected: str
) -> None:
    """It has the smallest and the largest amount; neighbours with one verdict share a phrase."""
    assert plain(verdict_sentence.findings(a_claim(TIME, *GRID), points(GRID, *verdicts))) == expected


@pytest.mark.parametrize(
    ("metric", "found", "expected"),
    [
        (BYTES, point(2.5, YES), "peak memory 1.00 GiB → 410 MiB, 2.50 times less"),
        (BYTES, point(0.8, *WORSE), "worse, peak memory 1.00 GiB → 1.25 GiB, 1.25 times more"),
        (RATE, point(1.1, YES), "throughput 10 % higher"),
        (RATE, point(0.5, *WORSE), "worse, throughput 2.00 times lower"),
        (TIME, point(1.0, *SAME), "no difference"),
        (TIME, point(1.0, *SAME, wide=1.1), "no gain that counts, step time the same"),
        (TIME, point(0.95, *SAME, wide=1.06), "no gain that counts, step time 5.3 % longer"),
        (TIME, point(1.15, *SAME), "less than claimed, step time 13 % shorter"),
        (TIME, point(1.1, "inconclusive", "control_failed"), "not resolved (control failed)"),
        (TIME, point(math.nan, "inconclusive", "not_measured"), "not resolved (not measured)"),
    ],
)
def test_each_verdict_has_its_words(
    a_claim: Callable[..., MeasuredClaim], metric: dict[str, str], found: PointVerdict, expected: str
) -> None:
    assert plain(verdict_sentence.findings(a_claim(metric), [found])) == expected


@pytest.mark.parametrize(
    ("relation", "found", "expected"),
    [
        ("equal_within", point(1.01, YES), "the same within 5 %, step time 1.0 % shorter"),
        ("equal_within", point(1.2, "contradicted", "different"), "different, step time 17 % shorter"),
        ("not_worse", point(0.98, YES), "at most 5 % worse, step time 2.0 % longer"),
        ("not_worse", point(0.9, "contradicted", "worse"), "worse, step time 11 % longer"),
    ],
)
def test_claims_of_equality_name_their_margin(
    a_claim: Callable[..., MeasuredClaim], relation: str, found: PointVerdict, expected: str
) -> None:
    claim = a_claim(TIME, relation=relation, margin=0.05)
    assert plain(verdict_sentence.findings(claim, [found])) == expected


@pytest.mark.parametrize(
    ("values", "unit", "expected"),
    [
        ((1,), "sequences", "1 sequence"),
        ((1,), "batches", "1 batch"),
        ((1,), "sequences of 512 tokens", "1 sequence of 512 tokens"),
        ((1,), "generated tokens", "1 generated token"),
        ((2,), "sequences", "2 sequences"),
        ((1, 2), "sequences", "1 and 2 sequences"),
        ((1024, 131072), "tokens", "1,024 and 131,072 tokens"),
        ((0.25,), "share of padding", "25 % padding"),
        ((0, 0.125, 1), "share of padding", "0, 12.5 and 100 % padding"),
        ((0.5, 1.5), "billion parameters", "0.5 and 1.5 billion parameters"),
    ],
)
def test_units_are_singular_or_plural(values: tuple[float, ...], unit: str, expected: str) -> None:
    assert plain(sweep_phrases.at(Sweep(axis="size", unit=unit, grid=(0, 1)), *values)) == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (Shape("from", 1024), "from 1,024 tokens up"),
        (Shape("up_to", 1), "up to 1 token"),
        (Shape("everywhere"), ""),
        (Shape("irregular"), ""),
    ],
)
def test_a_badge_names_the_range_of_a_sweep(shape: Shape, expected: str) -> None:
    assert sweep_phrases.reach(Sweep(axis="tokens", unit="tokens", grid=(1, 1024)), shape) == expected


@pytest.mark.parametrize(("name", "word"), [("sweep", "depends"), ("part", "measured"), ("memory", "measured")])
def test_the_tooltip_and_not_the_badge_names_the_part_of_the_sweep(site: SiteData, name: str, word: str) -> None:
    claim = site.tree.claims[f"training.{name}"]
    assert isinstance(claim, MeasuredClaim)
    view = phrasing.view(site, claim, "cpu")
    assert view.word == word
    assert ("from 8 sequences up" in verdict_sentence.verdict_sentence(view)) == (name != "memory")


@pytest.mark.parametrize(("status", "word"), [("flips", "depends"), ("contradicted", "contradicted on a CPU")])
def test_a_carried_over_badge_has_at_most_four_words(site: SiteData, status: Status, word: str) -> None:
    claim = site.tree.claims["training.memory"]
    assert isinstance(claim, MeasuredClaim)
    assert replace(phrasing.view(site, claim, "h200"), status=status).word == word


def test_the_product_follows_a_class_that_does_not_name_it() -> None:
    assert verdict_sentence._machine("an H200", "NVIDIA H200") == "an H200"
    assert verdict_sentence._machine("an x86 CPU", "AMD EPYC") == "an x86 CPU (AMD EPYC)"
    assert verdict_sentence._machine("an x86 CPU", "Intel Xeon CPU") == "an x86 CPU (Intel Xeon CPU)"


def test_the_points_table_has_the_plots_figures(a_claim: Callable[..., MeasuredClaim]) -> None:
    """A column that would be the same in all rows is left out."""
    claim = a_claim(BYTES, 512, 1024)
    found = tuple(points((512, 1024), (1.0, *SAME), (2.0, YES, "clear")))
    assert points_table.head(claim, [Series("an H200", found)])[:2] == ["tokens", "before → after"]
    rows = [[plain(cell) for cell in row] for row in points_table.rows(claim, [Series("an H200", found)])]
    assert rows == [
        ["512", "1.00 GiB → 1.00 GiB", "no difference", "1.00", "0.999 to 1.00", "10"],
        ["1,024", "1.00 GiB → 512 MiB", "supported", "2.00", "2.00 to 2.00", "10"],
    ]
    both = [Series("an H200", found), Series("an H100 SXM", found)]
    assert points_table.head(claim, both)[0] == "hardware"
    assert [row[0] for row in points_table.rows(claim, both)] == ["an H200"] * 2 + ["an H100 SXM"] * 2


def test_an_unmeasured_point_has_no_figures(a_claim: Callable[..., MeasuredClaim]) -> None:
    """An unclaimed point is marked."""
    none = PointVerdict({}, False, "inconclusive", "not_measured", math.nan, 0.0, math.inf, 0, 0.99, (), (), ())  # noqa: FBT003
    (row,) = points_table.rows(a_claim(TIME), [Series("an H200", (none,))])
    assert row == ["–", "not resolved: not measured (not claimed)", "–", "–", "0"]

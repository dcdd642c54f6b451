"""The table below a plot: a row per point and hardware class."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headroom.records import MeasuredClaim
from headroom.site.claims import phrasing, sweep_phrases, verdict_sentence
from headroom.verdicts import PointVerdict


@dataclass(frozen=True, slots=True)
class Series:
    """The points of one session of a claim."""

    place: str
    """The hardware class in words."""
    points: tuple[PointVerdict, ...]


def head(claim: MeasuredClaim, series: Sequence[Series]) -> list[str]:
    """Return the column headers, without columns that would be the same in all rows."""
    sweep = claim.scope.sweep
    axis = [sweep_phrases.title(sweep)] if sweep else []
    named = ["hardware"] if len(series) > 1 else []
    return [*named, *axis, "before → after", "verdict", "ratio", "interval", "blocks"]


def rows(claim: MeasuredClaim, series: Sequence[Series]) -> Iterator[list[str]]:
    """Yield the cells of each row as plain text."""
    sweep = claim.scope.sweep
    for each in series:
        for point in each.points:
            axis = [sweep_phrases.figure(sweep, point.point[sweep.axis])] if sweep else []
            named = [each.place] if len(series) > 1 else []
            yield [*named, *axis, *_cells(claim, point)]


def _cells(claim: MeasuredClaim, point: PointVerdict) -> list[str]:
    verdict = verdict_sentence.verdict_words(claim, point) + ("" if point.asserted else " (not claimed)")
    if not point.n:
        return ["–", verdict, "–", "–", "0"]
    interval = phrasing.ends(point).replace(" ", "\u00a0")
    return [phrasing.figures(claim, point), verdict, phrasing.number(point.ratio), interval, str(point.n)]

"""The table beneath a plot: the same figures, a row a point and hardware class, what a reader decides by first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headroom.records import MeasuredClaim
from headroom.site.claims import phrasing, sweep_phrases, verdict_sentence
from headroom.verdicts import PointVerdict


@dataclass(frozen=True, slots=True)
class Series:
    """What one session measured of a claim."""

    place: str
    """The hardware class in words."""
    points: tuple[PointVerdict, ...]


def head(claim: MeasuredClaim, series: Sequence[Series]) -> list[str]:
    """The heads of the columns; of what is the same in all rows there is none."""
    sweep = claim.scope.sweep
    axis = [sweep_phrases.title(sweep)] if sweep else []
    named = ["hardware"] if len(series) > 1 else []
    return [*named, *axis, "before → after", "verdict", "ratio", "interval", "blocks"]


def rows(claim: MeasuredClaim, series: Sequence[Series]) -> Iterator[list[str]]:
    """The cells of each row, as plain text."""
    sweep = claim.scope.sweep
    for each in series:
        for point in each.points:
            axis = [sweep_phrases.figure(sweep, point.point[sweep.axis])] if sweep else []
            named = [each.place] if len(series) > 1 else []
            yield [*named, *axis, *_cells(claim, point)]


def _cells(claim: MeasuredClaim, point: PointVerdict) -> list[str]:
    said = verdict_sentence.verdict_words(claim, point) + ("" if point.asserted else " (not claimed)")
    if not point.n:
        return ["–", said, "–", "–", "0"]
    interval = phrasing.ends(point).replace(" ", "\u00a0")
    return [phrasing.figures(claim, point), said, phrasing.number(point.ratio), interval, str(point.n)]

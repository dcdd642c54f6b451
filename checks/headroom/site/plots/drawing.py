"""Parts that all plots share: marks, labels and descriptions."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from headroom.io.markdown_escape import one_line
from headroom.records import MeasuredClaim
from headroom.site.claims import phrasing
from headroom.site.claims.points_table import Series
from headroom.verdicts import PointVerdict

_CROSS = '<path d="M-5-5L5 5M-5 5L5-5"/>'
# One shape per hardware class, because colour alone must not tell them apart. The fifth class reuses the first shape.
_SHAPES = (
    '<circle r="5.5"/>',
    '<path d="M-5-5H5V5H-5Z"/>',
    '<path d="M0-7L7 0L0 7L-7 0Z"/>',
    '<path d="M0-7L7 5H-7Z"/>',
)


def text(value: str) -> str:
    """Escape a text for a drawing, on one line so that it cannot start a Markdown fence."""
    return escape(one_line(value))


def mark(verdict: str, series: int = 0) -> str:
    """Return an estimate's mark: filled if supported, open if unresolved, a cross if contradicted."""
    shape = _CROSS if verdict == "contradicted" else _SHAPES[series % len(_SHAPES)]
    return f'<g class="mark mark-{verdict}">{shape}</g>'


def known(point: PointVerdict) -> bool:
    """Tell whether a point has a finite ratio and interval."""
    return math.isfinite(point.ratio) and math.isfinite(point.high)


def spread(index: int, width: float) -> float:
    """Return a block's horizontal offset, by the golden ratio so that neighbouring dots do not overlap."""
    return round(((index * 0.618034) % 1 - 0.5) * width, 1)


def svg_start(claim: MeasuredClaim, series: Sequence[Series], kind: str, height: int) -> str:
    """Return the start of a drawing, with its title and a description for screen readers."""
    name = text(f"{claim.metric.kind.title} on {' and '.join(each.place for each in series)}: ratio of improvement")
    shown = text(". ".join(line for each in series for line in _described(claim, each, alone=len(series) == 1)))
    ids = f"plot-{claim.id}"
    return (
        f'<svg class="{kind}" role="img" width="100%" height="{height}" xmlns="http://www.w3.org/2000/svg" '
        f'aria-labelledby="{ids}-title" aria-describedby="{ids}-desc">\n'
        f'<title id="{ids}-title">{name}</title>\n<desc id="{ids}-desc">{shown}.</desc>'
    )


def describe_point(claim: MeasuredClaim, point: PointVerdict) -> str:
    """Return a point in words: `4 sequences: supported, ratio 1.24 exactly`."""
    place = phrasing.where(claim, point.point)
    meant = "" if point.asserted else ", not claimed"
    return f"{place}{': ' if place else ''}{point.verdict}{meant}, {phrasing.interval(claim, point)}"


def divided(claim: MeasuredClaim) -> str:
    """Return the definition of a plot's ratio: `Peak memory, baseline ÷ subject`."""
    kind = claim.metric.kind
    title = kind.title[0].upper() + kind.title[1:]
    return text(f"{title}, {'baseline ÷ subject' if kind.better == 'lower' else 'subject ÷ baseline'}")


def label(place: str) -> str:
    """Return a hardware class's name without its article, to fit on a phone: `x86 server CPU with AMX`."""
    return text(re.sub(r"^(?:one thread of )?(?:an? |the )?", "", place))


def _described(claim: MeasuredClaim, series: Series, *, alone: bool) -> Iterator[str]:
    for point in series.points:
        yield ("" if alone else f"{series.place}, ") + describe_point(claim, point)


def lines(parts: Iterable[str]) -> str:
    """Return the parts of a drawing, one per line."""
    return "\n".join(parts)

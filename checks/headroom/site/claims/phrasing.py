"""Badges, amounts, intervals and dates in words."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from headroom.maths.units import UNITS, human_readable
from headroom.records import MeasuredClaim, Point
from headroom.site.claims import age_words, sweep_phrases
from headroom.site.site_data import SiteData
from headroom.verdicts import PointVerdict, Standing, Status

BADGES: dict[Status, str] = {
    "supported": "measured",
    "contradicted": "contradicted",
    "inconclusive": "inconclusive",
    "disputed": "disputed",
    "flips": "depends",
    "unmeasured": "not measured yet",
    "cited": "cited",
    "modelled": "computed",
    "agrees": "reported: agrees",
    "disagrees": "reported: disagrees",
    "mixed": "reported: mixed",
}
# Badges of bytes counted on another class than the page's. Other metrics never carry over.
CARRIED: dict[Status, str] = {
    "supported": "counted on",
    "contradicted": "contradicted on",
    "inconclusive": "inconclusive on",
    "disputed": "disputed on",
}
# How each kind of metric names a higher and a lower value.
_MORE_LESS = {"time": ("longer", "shorter"), "bytes": ("more", "less"), "rate": ("higher", "lower")}
_NEAR_ONE = (0.8, 1.25)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class View:
    """A measured claim on a page about one hardware class."""

    site: SiteData
    claim: MeasuredClaim
    hardware: str
    status: Status
    source: str | None
    """The class whose session gives the figures: the page's own, another one that carries over, or none."""

    @property
    def standing(self) -> Standing:
        """The claim's verdict on the class that gives the figures."""
        return self.site.board.of(self.claim, self.source or self.hardware)

    @property
    def place(self) -> str:
        """The name of the page's hardware class."""
        return self.site.class_name(self.hardware)

    @property
    def carried(self) -> bool:
        """Whether the figures come from another class than the page's."""
        return self.source not in (None, self.hardware)

    @property
    def word(self) -> str:
        """The badge's text, in two or three words; the conditions are in its tooltip."""
        on_gpu, kind = self.site.on_gpu, self._kind(self.hardware)
        if self.status == "unmeasured":
            measured = [name for name, found in self.site.board.standings[self.claim.id].items() if found.verdict]
            if on_gpu(self.hardware) not in map(on_gpu, measured):
                return f"not measured on a {kind} yet"
            return f"not measured on {self.place if kind == 'GPU' else 'this CPU'} yet"
        if self.source is None or not self.carried or self.status == "flips":
            return BADGES[self.status] + age_words.mark(self.standing)
        elsewhere = self._kind(self.source)
        other = "another" if elsewhere == kind else "a"
        return f"{CARRIED[self.status]} {other} {elsewhere}{age_words.mark(self.standing)}"

    def _kind(self, hardware_class: str) -> str:
        return "GPU" if self.site.on_gpu(hardware_class) else "CPU"


def view(site: SiteData, claim: MeasuredClaim, hardware: str) -> View:
    """Return a claim's view on a page about this class, with another class's figures if they carry over."""
    status = site.board.status(claim, hardware)
    standings = site.board.standings[claim.id]
    own = hardware in standings and standings[hardware].verdict is not None
    others = [name for name, found in standings.items() if found.verdict and claim.metric.carries_over]
    return View(site, claim, hardware, status, hardware if own else next(iter(others), None))


def shown_point(view: View) -> PointVerdict | None:
    """Return the point that a summary shows: the last asserted point with a result."""
    points = view.standing.verdict.points if view.standing.verdict else ()
    known = [point for point in points if point.asserted and math.isfinite(point.ratio)]
    return known[-1] if known else None


def conditions(view: View, point: PointVerdict) -> str:
    """Return a figure's metric and point: `peak memory at 4 sequences`."""
    at = where(view.claim, point.point)
    return view.claim.metric.kind.title + (f" at {at}" if at else "")


def number(value: float) -> str:
    """Return a ratio or a figure with three significant digits."""
    if not math.isfinite(value):
        return "unknown"
    before_point = math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{max(0, 2 - before_point)}f}"


def change(value: float) -> str:
    """Return a relative change in whole percent, below 10 % in tenths."""
    percent = value * 100
    text = f"{abs(percent):.{0 if abs(percent) >= 10 else 1}f}"  # noqa: PLR2004 - two digits
    sign = "" if float(text) == 0 else "+" if percent > 0 else "\u2212"
    return f"{sign}{text}\u00a0%"


def relative_change(claim: MeasuredClaim, ratio: float) -> float:
    """Return the subject's relative change from the baseline, from the ratio of improvement."""
    return (ratio if claim.metric.kind.better == "higher" else 1 / ratio) - 1


def phrase(claim: MeasuredClaim, ratios: Sequence[float], *, titled: bool = True) -> str:
    """Return the metric and its change: `peak memory 1.14 to 1.27 times less`, `1.8 to 1.9 times faster`."""
    low, high = min(ratios), max(ratios)
    in_times = not (_NEAR_ONE[0] < low and high < _NEAR_ONE[1])
    time = UNITS[claim.metric.kind.unit][0] == "time"
    parts = [_amount(claim, ratio, in_times=in_times) for ratio in (low, high)]
    if parts[0][1] == parts[1][1]:  # one word for both, the smaller amount first
        figures = [figure for figure, _ in (parts if low > 1 else parts[::-1])]
        amount = " ".join(filter(None, (" to ".join(dict.fromkeys(figures)), parts[0][1])))
    else:
        amount = " to ".join(" ".join(filter(None, part)) for part in parts)
    return amount if (time and in_times) or not titled else f"{claim.metric.kind.title} {amount}"


def _amount(claim: MeasuredClaim, ratio: float, *, in_times: bool) -> tuple[str, str]:
    """Return a ratio's figure and the words after it."""
    kind = claim.metric.kind
    family = UNITS[kind.unit][0]
    more, less = _MORE_LESS[family]
    word = more if (ratio > 1) == (kind.better == "higher") else less
    if in_times:
        if family == "time":
            word = "faster" if ratio > 1 else "slower"
        return number(max(ratio, 1 / ratio)), f"times {word}"
    text = change(relative_change(claim, ratio)).lstrip("+\u2212")
    return ("", "the same") if text.startswith("0.0") else (text, word)


def before_after(claim: MeasuredClaim, point: PointVerdict) -> str:
    """Return bytes before and after, or the change of a time or a rate."""
    if claim.metric.kind.unit == "B":
        return figures(claim, point)
    return change(relative_change(claim, point.ratio))


def where(claim: MeasuredClaim, point: Point) -> str:
    """Return a point of a sweep in words, or nothing without a sweep."""
    sweep = claim.scope.sweep
    return sweep_phrases.at(sweep, point[sweep.axis]) if sweep else ""


def figures(claim: MeasuredClaim, point: PointVerdict) -> str:
    """Return the medians of both arms: `80.0 ms → 64.2 ms`."""
    unit = claim.metric.kind.unit
    return f"{human_readable(median(point.baseline), unit)} → {human_readable(median(point.subject), unit)}".replace(
        " ", "\u00a0"
    )


def ends(point: PointVerdict) -> str:
    """Return an interval: `1.23 to 1.26`, or `exactly` if all blocks agree."""
    if not (math.isfinite(point.ratio) and math.isfinite(point.high)):
        return "none"
    return "exactly" if point.low == point.high else f"{number(point.low)} to {number(point.high)}"


def interval(claim: MeasuredClaim, point: PointVerdict) -> str:
    """Return a point's ratio and its interval."""
    between = ends(point)
    if between == "none":
        return "no interval"
    if between == "exactly":
        return f"ratio {number(point.ratio)} exactly"
    if point.level == 1:
        return f"ratio {number(point.ratio)}, every ratio within {between}"
    level = 1 - (1 - point.level) * len(claim.scope.points)
    return f"ratio {number(point.ratio)}, {level:.0%} interval {between}".replace("%", "\u00a0%")


def blocks(points: Iterable[PointVerdict]) -> str:
    """Return the number of blocks per point."""
    counts = sorted({point.n for point in points})
    return f"{counts[0]} blocks" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} blocks"


def reason(code: str) -> str:
    """Return a reason's code in words."""
    return code.replace("_", " ")


def day(iso: str) -> str:
    """Return a date in words: 21 November 2026."""
    year, month, of_month = iso.split("-")
    return f"{int(of_month)}\u00a0{_MONTHS[(int(month) - 1) % 12]}\u00a0{year}"

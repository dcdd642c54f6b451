"""What the site says of a claim, in words: badges, verdict sentences, amounts and dates."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from headroom.records import MeasuredClaim, Point
from headroom.site.context import SiteData
from headroom.units import UNITS, humane
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
}
# The same for bytes that were counted on other hardware than the page's. Nothing else carries over.
CARRIED: dict[Status, str] = {
    "supported": "counted on",
    "contradicted": "counted, and not so, on",
    "inconclusive": "inconclusive on",
    "disputed": "disputed on",
    "flips": "depends on the size, counted on",
}
# How a kind of metric names a higher and a lower value.
_PLURAL = re.compile(r"(?<=ch|sh|ss)es$|(?<=[^s])s$")  # of the unit of an axis: batches, sequences
_MORE_LESS = {"time": ("longer", "shorter"), "bytes": ("more", "less"), "rate": ("higher", "lower")}
_NEAR_ONE = (0.8, 1.25)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class View:
    """A measured claim as a page about one hardware class sees it."""

    site: SiteData
    claim: MeasuredClaim
    hardware: str
    status: Status
    source: str | None
    """The class whose session speaks: the page's own, another whose figures carry over, or none."""

    @property
    def standing(self) -> Standing:
        """Where the claim stands on the class that speaks for the page."""
        return self.site.board.of(self.claim, self.source or self.hardware)

    @property
    def place(self) -> str:
        """The page's hardware class in words."""
        return self.site.class_name(self.hardware)

    @property
    def carried(self) -> bool:
        """Whether the figures come from another class than the page's."""
        return self.source not in (None, self.hardware)

    @property
    def word(self) -> str:
        """What the badge says, short: the sentence behind it names the class in full."""
        on_gpu, kind = self.site.on_gpu, self._kind(self.hardware)
        if self.status == "unmeasured":
            measured = [name for name, found in self.site.board.standings[self.claim.id].items() if found.verdict]
            if on_gpu(self.hardware) not in map(on_gpu, measured):
                return f"no {kind} measurement yet"
            return f"not measured on {self.place if kind == 'GPU' else 'this CPU'}"
        if self.source is None or not self.carried:
            return BADGES[self.status]
        elsewhere = self._kind(self.source)
        return f"{CARRIED[self.status]} {'another' if elsewhere == kind else 'a'} {elsewhere}"

    def _kind(self, hardware_class: str) -> str:
        return "GPU" if self.site.on_gpu(hardware_class) else "CPU"


def view(site: SiteData, claim: MeasuredClaim, hardware: str) -> View:
    """A claim for a page about this class, its figures taken from another class where they carry over."""
    status = site.board.status(claim, hardware)
    standings = site.board.standings[claim.id]
    own = hardware in standings and standings[hardware].verdict is not None
    others = [name for name, found in standings.items() if found.verdict and claim.metric.carries_over]
    return View(site, claim, hardware, status, hardware if own else next(iter(others), None))


def number(value: float) -> str:
    """A ratio or a figure to three significant digits."""
    if not math.isfinite(value):
        return "unknown"
    before_point = math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{max(0, 2 - before_point)}f}"


def change(value: float) -> str:
    """A relative change in whole percent, or in tenths where it is small; with a real minus sign."""
    percent = value * 100
    text = f"{abs(percent):.{0 if abs(percent) >= 10 else 1}f}"  # noqa: PLR2004 - two digits
    sign = "" if float(text) == 0 else "+" if percent > 0 else "\u2212"
    return f"{sign}{text}\u00a0%"


def relative_change(claim: MeasuredClaim, ratio: float) -> float:
    """How much larger the subject's figure is than the baseline's, from the ratio of improvement."""
    return (ratio if claim.metric.kind.better == "higher" else 1 / ratio) - 1


def amount(claim: MeasuredClaim, ratio: float) -> str:
    """A ratio in words: `3.1 times less`, `11 % shorter`."""
    kind = claim.metric.kind
    more, less = _MORE_LESS[UNITS[kind.unit][0]]
    word = more if (ratio > 1) == (kind.better == "higher") else less
    if _NEAR_ONE[0] < ratio < _NEAR_ONE[1]:
        text = change(relative_change(claim, ratio)).lstrip("+\u2212")
        return "the same" if text.startswith("0.0") else f"{text} {word}"
    return f"{number(max(ratio, 1 / ratio))} times {word}"


def before_after(claim: MeasuredClaim, point: PointVerdict) -> str:
    """What a reader decides by: bytes before and after, or the change of a time or a rate."""
    unit = claim.metric.kind.unit
    if unit == "B":
        return f"{humane(median(point.baseline), unit)} → {humane(median(point.subject), unit)}".replace(" ", "\u00a0")
    return change(relative_change(claim, point.ratio))


def where(claim: MeasuredClaim, point: Point) -> str:
    """A point of a sweep in words, or nothing where nothing is swept."""
    sweep = claim.scope.sweep
    if sweep is None:
        return ""
    value = point[sweep.axis]
    return f"{value} {_PLURAL.sub('', sweep.unit) if value == 1 else sweep.unit}"


def interval(claim: MeasuredClaim, point: PointVerdict) -> str:
    """The interval of a point's ratio, and what kind of interval it is."""
    if not (math.isfinite(point.ratio) and math.isfinite(point.high)):
        return "no interval"
    if point.low == point.high:
        return f"ratio {number(point.ratio)} exactly"
    ends = f"{number(point.low)} to {number(point.high)}"
    if point.level == 1:
        return f"ratio {number(point.ratio)}, every ratio within {ends}"
    level = 1 - (1 - point.level) * len(claim.scope.points)
    return f"ratio {number(point.ratio)}, {level:.0%} interval {ends}".replace("%", "\u00a0%")


def verdict_sentence(view: View) -> str:
    """One full sentence: where, how far, with what interval, how often and when."""
    standing = view.standing
    if standing.verdict is None or standing.session is None:
        why = f" ({standing.reason})" if standing.void else ""
        return f"On {view.place}: {view.word}{why}."
    head = standing.session.head
    torch = f", torch {version}" if (version := head.environment.versions.get("torch")) else ""
    points = [point for point in standing.verdict.points if point.asserted]
    measured = f"{torch}, {day(head.date)}: {_result(view, points)}; {blocks(points)}."
    return (carried_over(view)[:-1] if view.carried else f"On {view.place}") + measured


def carried_over(view: View) -> str:
    """One sentence that says from where a figure is taken over."""
    source = view.site.class_name(view.source or view.hardware)
    return f"On {view.place}: {view.claim.metric.kind.title} carries over from {source}."


def _result(view: View, points: list[PointVerdict]) -> str:
    """The verdicts and the amounts behind them, the points of a sweep that share a verdict together."""
    disputed = "disputed by an older session; " if view.status == "disputed" else ""
    found = dict.fromkeys(point.verdict for point in reversed(points))
    return disputed + "; ".join(_part(view.claim, [p for p in points if p.verdict == verdict]) for verdict in found)


def _part(claim: MeasuredClaim, points: list[PointVerdict]) -> str:
    place = span(claim, points)
    why = f" ({reason(points[0].reason)})" if points[0].verdict == "inconclusive" else ""
    head = points[0].verdict + why + (f" {place}" if place else "")
    known = [point for point in points if math.isfinite(point.ratio)]
    if not known:
        return head
    first, last = amount(claim, known[0].ratio), amount(claim, known[-1].ratio)
    result = first if first == last else f"{first} to {last}"
    if claim.scope.sweep is None:
        figures = f"{before_after(claim, known[0])}, " if claim.metric.kind.unit == "B" else ""
        result = f"{figures}{result}, {interval(claim, known[0])}"
    return f"{head}, {claim.metric.kind.title} {result}"


def span(claim: MeasuredClaim, points: list[PointVerdict]) -> str:
    """From where to where along the sweep, or at which points where others lie between."""
    sweep = claim.scope.sweep
    if sweep is None:
        return ""
    values = [point.point[sweep.axis] for point in points]
    first, last = (sweep.grid.index(float(values[i])) for i in (0, -1))
    if len(values) > 1 and last - first + 1 == len(values):
        return f"from {sweep.axis} {values[0]} to {values[-1]}"
    return f"at {sweep.axis} {', '.join(map(str, values))}"


def blocks(points: Iterable[PointVerdict]) -> str:
    """How many blocks stand behind each of these points."""
    counts = sorted({point.n for point in points})
    return f"{counts[0]} blocks" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} blocks"


def reason(code: str) -> str:
    """A reason as a page names it."""
    return code.replace("_", " ")


def day(iso: str) -> str:
    """A date as a sentence writes it: 21 November 2026."""
    year, month, of_month = iso.split("-")
    return f"{int(of_month)}\u00a0{_MONTHS[(int(month) - 1) % 12]}\u00a0{year}"

"""Sentences about a session's verdict on a claim."""

from collections.abc import Sequence
from itertools import groupby

from headroom.records import MeasuredClaim
from headroom.site.claims import age_words, phrasing, sweep_phrases
from headroom.site.claims.phrasing import View
from headroom.verdicts import PointVerdict
from headroom.verdicts.crossover import shape

_ALIKE = 1.02
"""Ratios closer to 1 than this are `no difference`."""
_REASONS = {"wide": "the interval is too wide"}


def verdict_sentence(view: View) -> str:
    """Return the result with its hardware and version, then the interval, the blocks and the day."""
    standing = view.standing
    if standing.verdict is None or standing.session is None:
        why = f" ({standing.reason})" if standing.void else ""
        return f"On {view.place}: {phrasing.BADGES['unmeasured']}{why}."
    head = standing.session.head
    own = f"On {_machine(view.place, head.environment.product)}"
    place = f"On {view.place}, counted on {_source(view)}" if view.carried else own
    version = head.environment.versions.get("torch", "").partition("+")[0]
    torch = f" with torch {version}" if version else ""
    disputed = "an older session found the opposite; " if view.status == "disputed" else ""
    points = standing.verdict.points
    result = f"{place}{torch}: {disputed}{findings(view.claim, points)}. {_behind(view.claim, points, head.date)}."
    return result + age_words.sentence(standing)


def carried_over(view: View) -> str:
    """Return a sentence that names the class from which a figure carries over."""
    return f"On {view.place}: {view.claim.metric.kind.title} carries over from {_source(view)}."


def _source(view: View) -> str:
    return view.site.class_name(view.source or view.hardware)


def findings(claim: MeasuredClaim, points: Sequence[PointVerdict]) -> str:
    """Return the change and where it holds; neighbouring points with the same verdict share a phrase."""
    sweep = claim.scope.sweep
    found = shape(claim, points)
    if sweep is None or found is None:
        return _phrase(claim, points, "", titled=True)
    groups = [list(group) for _, group in groupby(points, key=lambda point: verdict_words(claim, point))]
    if found.kind == "from":  # start at the supported end
        groups.reverse()
    parts: list[str] = []
    for group in groups:
        place = sweep_phrases.over(sweep, [point.point[sweep.axis] for point in group])
        if found.edge is not None and group[0].verdict == "supported":
            place = sweep_phrases.reach(sweep, found)
        titled = not any(point.verdict == "supported" for other in groups[: len(parts)] for point in other)
        parts.append(_phrase(claim, group, place, titled=titled))
    # If the verdict changes several times, the sentence names only the grid.
    return ("not the same way along the sweep: " if found.kind == "irregular" else "") + "; ".join(parts)


def verdict_words(claim: MeasuredClaim, point: PointVerdict) -> str:
    """Return a verdict as a table cell shows it."""
    return _kind(claim, point) if point.verdict != "inconclusive" else f"not resolved: {_reason(point)}"


def _kind(claim: MeasuredClaim, point: PointVerdict) -> str:
    """Return a point's verdict in words, without the amount."""
    if point.verdict == "inconclusive":
        return "not resolved"
    if point.verdict == "supported":
        margin = f"{(claim.margin or 0) * 100:g}\u00a0%"
        words = {"equal_within": f"the same within {margin}", "not_worse": f"at most {margin} worse"}
        return words.get(claim.relation, "supported")
    if point.reason in ("reversed", "worse", "different"):
        return "worse" if point.reason == "reversed" else point.reason
    if point.low >= 1 / _ALIKE and point.high <= _ALIKE:
        return "no difference"
    return "less than claimed" if point.low > 1 else "no gain that counts"


def _phrase(claim: MeasuredClaim, points: Sequence[PointVerdict], place: str, *, titled: bool) -> str:
    """Return the phrase for one verdict at one part of the sweep."""
    kind = _kind(claim, points[0])
    at = f"{kind} {place}".rstrip()
    if kind == "no difference":
        return at
    if kind == "not resolved":
        return f"{at} ({_reason(points[0])})"
    bytes_alone = claim.metric.kind.unit == "B" and not place
    amount = phrasing.phrase(claim, [point.ratio for point in points], titled=titled and not bytes_alone)
    if bytes_alone:
        amount = f"{claim.metric.kind.title} {phrasing.figures(claim, points[0])}, {amount}"
    if kind == "supported":
        return f"{amount} {place}".rstrip()
    if kind.startswith("the same"):
        amount = amount.removesuffix(", the same")
    return f"{at}: {amount}" if place else f"{at}, {amount}"


def _behind(claim: MeasuredClaim, points: Sequence[PointVerdict], date: str) -> str:
    """Return the interval or the grid, the number of blocks and the day."""
    sweep, day = claim.scope.sweep, phrasing.day(date)
    if sweep is None:
        held = phrasing.interval(claim, points[0])
        return f"{held[0].upper()}{held[1:]}; {phrasing.blocks(points)}, {day}"
    grid = sweep_phrases.over(sweep, [point.point[sweep.axis] for point in points])
    return f"Measured {grid}, {phrasing.blocks(points)} each, {day}"


def _machine(place: str, product: str) -> str:
    """Return a hardware class, followed by the measured product if the class does not name it."""
    shared = {*product.lower().split()} & {*place.lower().split()}
    named = any(character.isdigit() for word in shared for character in word)  # `H200` is a name, `CPU` is none
    return place if named or not product else f"{place} ({product})"


def _reason(point: PointVerdict) -> str:
    return _REASONS.get(point.reason, phrasing.reason(point.reason))

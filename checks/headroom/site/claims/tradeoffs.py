"""What else a claim's session measured for the same arms: other metrics, and whether the results agree."""

import math
from collections.abc import Iterator, Sequence
from statistics import median

from headroom.io.markdown_escape import text
from headroom.maths.statistics import compare
from headroom.maths.units import human_readable
from headroom.records import MeasuredClaim
from headroom.records.claims import Metric
from headroom.records.evidence import place
from headroom.records.metrics import METRICS
from headroom.site.claims import phrasing
from headroom.site.markdown_blocks import badge, bullets, heading, percent, signed, table
from headroom.site.site_data import PageContext, SiteData, claim_page
from headroom.verdicts import PointVerdict, Standing, output_check
from headroom.verdicts.gates import GATES
from headroom.verdicts.judge import judge_layout
from headroom.verdicts.paired_blocks import PairedBlock, RunLayout, blocks

_LEVEL = 0.99


def parts(claim: MeasuredClaim, name: str, standing: Standing, site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the section about one hardware class; nothing without a session that counts."""
    if standing.session is None or standing.verdict is None:
        return
    layout = RunLayout(standing.session.evidence)
    alone = sum(found.verdict is not None for found in site.board.standings[claim.id].values()) == 1
    yield heading("What else it changes" + ("" if alone else f" on {text(site.class_name(name))}"))
    rows = [row for metric in _others(claim, standing) for row in _rows(claim, metric, layout, name, site, page)]
    if rows:
        yield "Measured in the same runs, for the same two arms:"
        yield table(("measured", "point", "baseline", "subject", "changes by", "ratio and interval", "blocks"), rows)
    else:
        yield "The same runs measured nothing else for these two arms."
    yield from _elsewhere(claim, name, standing, site, page)
    yield result(claim, [block for point in claim.scope.points for block in blocks(claim, layout, point)])


def _others(claim: MeasuredClaim, standing: Standing) -> Iterator[str]:
    """Yield the other metrics that the session measured for both arms at a point of the claim."""
    measured = standing.session.measured if standing.session else frozenset()
    places = [place(point) for point in claim.scope.points]
    for name in METRICS:
        arms = (claim.subject, claim.baseline)
        if name != claim.metric.name and any(all((name, arm, at) in measured for arm in arms) for at in places):
            yield name


def _in(claim: MeasuredClaim, metric: str) -> MeasuredClaim:
    """Return the claim with another metric, to judge the session by."""
    return claim.model_copy(
        update={"metric": Metric(name=metric), "relation": "better", "margin": None, "min_effect": 0.0}
    )


def _rows(
    claim: MeasuredClaim, metric: str, layout: RunLayout, name: str, site: SiteData, page: PageContext
) -> Iterator[list[str]]:
    other = _in(claim, metric)
    judged = judge_layout(other, layout, site.tree.classes.get(name))
    sibling = next((other for other in _siblings(claim, site) if other.metric.name == metric), None)
    title = text(other.metric.kind.title)
    named = f"[{title}]({page.href(claim_page(sibling.id))})" if sibling else title
    for point in judged.points:
        if point.n:
            yield [named, *map(text, _cells(other, point)), str(point.n)]


def _cells(claim: MeasuredClaim, point: PointVerdict) -> list[str]:
    where = phrasing.where(claim, point.point) or "all"
    before, after = (human_readable(median(each), claim.metric.kind.unit) for each in (point.baseline, point.subject))
    if point.reason in GATES:
        return [where, before, after, "not known", f"does not count: {phrasing.reason(point.reason)}"]
    known = math.isfinite(point.ratio)
    return [
        where,
        before,
        after,
        phrasing.phrase(claim, [point.ratio], titled=False) if known else "not known",
        phrasing.interval(claim, point),
    ]


def _siblings(claim: MeasuredClaim, site: SiteData) -> Iterator[MeasuredClaim]:
    """Yield the claims about the same two arms, in either direction."""
    arms = {claim.subject, claim.baseline}
    for other in site.tree.measured():
        if other.benchmark == claim.benchmark and {other.subject, other.baseline} == arms:
            yield other


def _elsewhere(claim: MeasuredClaim, name: str, standing: Standing, site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield links to claims about the same two arms in metrics that the session did not measure."""
    here = {claim.metric.name, *_others(claim, standing)}
    found = [other for other in _siblings(claim, site) if other.metric.name not in here]
    if found:
        found.sort(key=lambda other: list(METRICS).index(other.metric.name))
        yield "Claims about the same two arms from other runs:"
        yield bullets(_linked(other, name, site, page) for other in found)


def _linked(claim: MeasuredClaim, name: str, site: SiteData, page: PageContext) -> str:
    view = phrasing.view(site, claim, name)
    return f"[{text(claim.statement)}]({page.href(claim_page(claim.id))}) {badge(view.status, view.word)}"


def result(claim: MeasuredClaim, paired: Sequence[PairedBlock]) -> str:
    """Return whether both arms computed the same result, or how much quality the subject gives up."""
    known = [(b.baseline.output, b.subject.output) for b in paired]
    pairs = [(a, b) for a, b in known if a is not None and b is not None]
    if not pairs or len(pairs) < len(known):
        return "**Result:** the output of at least one run was not recorded."
    if claim.gives_up:
        return _given_up(claim, pairs)
    largest = max(output_check.relative_difference(a, b) for a, b in pairs)
    same = "to the last digit" if largest == 0 else f"within {percent(largest)}"
    allowed = f"{percent(claim.allowed)} was allowed" if claim.allowed else "no difference was allowed"
    return f"**Result:** in all {len(pairs)} pairs of runs the output, usually the loss, is the same {same}; {allowed}."


def _given_up(claim: MeasuredClaim, pairs: Sequence[tuple[float, float]]) -> str:
    given = claim.gives_up
    assert given
    of = given.kind.of_output
    baseline, subject = [of(a) for a, _ in pairs], [of(b) for _, b in pairs]
    found = compare(baseline, subject, better=given.kind.better, min_effect=0.0, level=_LEVEL)
    ends = [_worse(given.kind.better, ratio) for ratio in (found.ratio, found.high, found.low)]
    kind = f"{text(given.kind.title)}. {text(given.kind.meaning)}"
    if not all(map(math.isfinite, ends)):
        interval = "how much is not known"
    else:
        typical, low, high = map(signed, ends)
        interval = (
            f"worse by {typical}, with a {_LEVEL * 100:.0f} % interval of {low} to {high}, where a minus is better"
        )
    largest = max(given.lost(a, b) for a, b in pairs)
    return (
        f"**Quality given up:** {kind} Over {len(pairs)} pairs of runs it is {interval}; "
        f"in the worst pair by {signed(largest)}. At most {percent(given.at_most)} is allowed."
    )


def _worse(better: str, ratio: float) -> float:
    """Return by how much a quality is worse, from the ratio of improvement."""
    if not ratio:
        return math.inf
    return 1 / ratio - 1 if better == "lower" else 1 - ratio

"""The page of one claim: its verdict in words, the plot, the conditions and the statistics."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from statistics import median

from headroom.io.markdown_escape import text
from headroom.maths.units import human_readable
from headroom.records import CitedClaim, Claim, MeasuredClaim, ModelledClaim, ReportedClaim, Session
from headroom.site.claims import (
    cited_claim,
    dispute_section,
    downloads,
    issue_link,
    modelled_claim,
    noise_and_roofline,
    phrasing,
    points_table,
    reported_claim_page,
    retirement_notice,
    sweep_phrases,
    tradeoffs,
    verdict_history,
    verdict_sentence,
)
from headroom.site.claims.points_table import Series
from headroom.site.markdown_blocks import badge, not_claimed
from headroom.site.markdown_blocks import bullets as _list
from headroom.site.markdown_blocks import heading as _heading
from headroom.site.markdown_blocks import table as _table
from headroom.site.plots import plot
from headroom.site.site_data import PageContext, SiteData, claim_page, evidence_file
from headroom.verdicts import PointVerdict, Standing
from headroom.verdicts.crossover import asserted


def render(claim: Claim, site: SiteData) -> str:
    """Return the page as Markdown with front matter."""
    page = PageContext(claim_page(claim.id))
    head = [_front_matter(claim), f"# {text(claim.statement)}", *retirement_notice.notice(claim, site, page)]
    other = [] if isinstance(claim, MeasuredClaim) else issue_link.links(claim, site)
    tail = [*retirement_notice.replaced(claim, site, page), *other, *downloads.section(claim, site, page)]
    return "\n\n".join([*head, *_parts(claim, site, page), *tail]) + "\n"


def _parts(claim: Claim, site: SiteData, page: PageContext) -> Iterator[str]:
    if isinstance(claim, ModelledClaim):
        return modelled_claim.render(claim, site, page)
    if isinstance(claim, ReportedClaim):
        return reported_claim_page.render(claim, site, page)
    return cited_claim.render(claim, page) if isinstance(claim, CitedClaim) else _measured(claim, site, page)


def _front_matter(claim: Claim) -> str:
    # Themes insert both into the page's head without escaping. A JSON string is valid YAML.
    head = json.dumps(escape(claim.statement))
    return f"---\ntitle: {head}\ndescription: {head}\nsearch: {{boost: 0.5}}\n---"


def _measured(claim: MeasuredClaim, site: SiteData, page: PageContext) -> Iterator[str]:
    seen = [phrasing.view(site, claim, name) for name in site.classes_of(claim)]
    views = sorted(seen, key=lambda view: (view.carried, view.standing.verdict is None))  # own measurements first
    for view in views:
        sentence = verdict_sentence.carried_over(view) if view.carried else verdict_sentence.verdict_sentence(view)
        yield f"{badge(view.status, view.word)} {text(sentence)}"
    own = [(view.hardware, view.standing) for view in views if not view.carried]
    series = [Series(site.class_name(name), found.verdict.points) for name, found in own if found.verdict]
    if series:
        yield plot.figure(claim, series)
        rows = points_table.rows(claim, series)
        yield _table(map(text, points_table.head(claim, series)), (map(text, row) for row in rows))
    for name, standing in own:
        yield from dispute_section.section(claim, standing, site.class_name(name), page)
    yield from _conditions(claim, site)
    for name, standing in own:
        yield from tradeoffs.parts(claim, name, standing, site, page)
    yield from not_claimed(claim, page)
    yield from _reproduction(claim)
    yield from issue_link.links(claim, site)
    for name, standing in own:
        if standing.session:
            place = f" on {text(site.class_name(name))}" if len(own) > 1 else ""
            yield _heading(f"Environment and statistics{place}")
            yield from _statistics(claim, standing, page)
            yield from _limits(claim, standing, site)
    yield from verdict_history.section(claim, site, page)


def _conditions(claim: MeasuredClaim, site: SiteData) -> Iterator[str]:
    scope = claim.scope
    kind = claim.metric.kind
    yield _heading("Conditions")
    rows = [
        f"Compared: **{text(claim.subject)}** with the baseline **{text(claim.baseline)}**",
        f"Held fixed: {text(_pairs({**scope.fixed, **scope.at}))}",
    ]
    sweep, meant = scope.sweep, asserted(claim)
    if sweep:
        rows.append(f"Swept: {text(f'{sweep_phrases.title(sweep)}, {sweep_phrases.over(sweep, sweep.grid)}')}")
        rows.append(f"Claimed for: {text(sweep_phrases.reach(sweep, meant) if meant else 'every point of the sweep')}")
        rows += [
            f"Depends: {text(sweep_phrases.between(sweep, *flip.between))} the verdict changes. {text(flip.why)}"
            for flip in claim.flips
        ]
    rows += [
        f"Meant for: {text(', '.join(map(site.class_name, scope.hardware)))}",
        f"Measured: {text(kind.title)}. {text(kind.meaning)}",
        f"Holds when: {text(_relation(claim))}",
    ]
    yield _list(rows)


def _relation(claim: MeasuredClaim) -> str:
    if claim.relation == "better":
        return f"the whole interval of the ratio is above {1 + claim.min_effect:g}"
    margin = claim.margin or 0
    if claim.relation == "not_worse":
        return f"the whole interval of the ratio is above {1 / (1 + margin):.3g}"
    return f"the whole interval of the ratio is within {1 / (1 + margin):.3g} to {1 + margin:g}"


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items()) or "nothing"


def _statistics(claim: MeasuredClaim, standing: Standing, page: PageContext) -> Iterator[str]:
    if standing.session and standing.verdict:
        yield _table(
            ("point", "baseline", "control", "reason"),
            [_point(claim, point) for point in standing.verdict.points],
        )
        yield from _session(standing.session, page)


def _limits(claim: MeasuredClaim, standing: Standing, site: SiteData) -> Iterator[str]:
    rows = list(noise_and_roofline.of_session(site, claim, standing.session)) if standing.session else []
    if rows:
        yield "What limits these figures:"
        yield _list(map(text, rows))


def _point(claim: MeasuredClaim, point: PointVerdict) -> list[str]:
    """Return a point's row: baseline, control and reason, which the table below the plot omits."""
    unit = claim.metric.kind.unit
    arms = [text(human_readable(median(arm), unit)) if arm else "missing" for arm in (point.baseline, point.control)]
    return [_where(claim, point), *arms, f"{point.verdict}: {text(phrasing.reason(point.reason))}"]


def _where(claim: MeasuredClaim, point: PointVerdict) -> str:
    return text(phrasing.where(claim, point.point) or "all") + ("" if point.asserted else " (shown, not claimed)")


def _session(session: Session, page: PageContext) -> Iterator[str]:
    """Yield the session's machine, versions, design and unknowns."""
    found, design = session.head.environment, session.head.design
    machine = [
        found.product,
        f"{found.power_limit_w:g} W" if found.power_limit_w else "",
        f"{found.cores} cores, {found.threads} used",
        human_readable(found.memory_bytes, "B"),
        found.system,
        {True: "virtualised", False: "not virtualised", None: "virtualised or not is unknown"}[found.virtualised],
        f"load before {found.load_before:.2g}",
    ]
    run = [
        f"{design.blocks} blocks in random order (seed {design.order_seed})",
        f"{design.warmup_steps} warm-up and {design.timed_steps} timed steps a run",
        f"timer {design.timer}",
        "synchronised" if design.synchronised else "not synchronised",
        f"the process of a run: {design.process}",
        f"{len(session.head.failures)} failed runs",
    ]
    versions = {**found.versions, **({"driver": found.driver} if found.driver else {})}
    yield _list(
        [
            f"Machine: {text(', '.join(filter(None, machine)))}",
            f"Versions: {text(_pairs(versions))}",
            f"Not known: {text(', '.join(found.unknown) or 'nothing that is recorded')}",
            f"Design: {text('; '.join(run))}",
            f"Raw data: {_raw(session, page)}",
        ]
    )


def _raw(session: Session, page: PageContext) -> str:
    target = page.href(evidence_file(session.path))
    return f"[{phrasing.day(session.head.date)}, {session.path.rpartition('-')[2]}]({target})"


def _reproduction(claim: MeasuredClaim) -> Iterator[str]:
    yield _heading("Measure it yourself")
    yield f"```bash\nheadroom reproduce {claim.id}\n```"
    yield "It prints your interval next to these intervals, and how the machines differ."
    yield f'??? example "The benchmark"\n\n    ```python\n    --8<-- "checks/benchmarks/{claim.benchmark}.py"\n    ```'

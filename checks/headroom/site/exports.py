"""What the site publishes besides pages: the index of claims, claims.json and the raw data behind both."""

import json
import math
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from headroom.escaping import text
from headroom.records import CitedClaim, Claim, ModelledClaim
from headroom.records.schemas import schemas
from headroom.site import cited, computed, hardware_page, harness_page, retired, words
from headroom.site.claim_page import render
from headroom.site.context import INDEX, PageContext, SiteData, claim_page, evidence_file
from headroom.site.parts import badge
from headroom.verdicts import PointVerdict, Standing


def pages(site: SiteData) -> dict[str, str]:
    """Every page that is made from records, by its path below docs/; the index among them."""
    found = {claim_page(claim.id): render(claim, site) for claim in site.tree.claims.values()}
    return {
        INDEX: index(site),
        hardware_page.PAGE: hardware_page.render(site),
        harness_page.PAGE: harness_page.render(site),
        **found,
    }


def data_files(site: SiteData) -> dict[str, Path]:
    """The files that the site publishes as they are: raw data and snippets, by their path on the site."""
    sessions = {evidence_file(session.path): site.tree.root / session.path for session in site.tree.sessions}
    snippets = {snippet.path: site.tree.root / snippet.path for snippet in site.tree.snippets.values()}
    machines = {evidence_file(path): site.tree.root / path for path in site.tree.machines}
    return {**sessions, **machines, **snippets}


def index(site: SiteData) -> str:
    """The table of all claims, by topic."""
    claims = sorted(site.tree.claims.values(), key=lambda claim: claim.id)
    intro = (
        "Every comparison on this site is one of these claims. A verdict is never stored: it is computed from the raw "
        "samples whenever the site is built, for each [hardware class](hardware.md) on its own. "
        "[All of it as data](../claims.json)."
    )
    head = [
        '---\ntitle: Claims\ndescription: "Every claim of this site and what the evidence says of it"\n---',
        "# Claims",
        intro,
    ]
    topics = groupby(claims, key=lambda claim: claim.id.partition(".")[0])
    return "\n\n".join([*head, *(part for topic, group in topics for part in _topic(topic, list(group), site))]) + "\n"


def _topic(topic: str, claims: list[Claim], site: SiteData) -> Iterator[str]:
    yield f"## {topic.capitalize()} {{ data-search-exclude }}"
    rows = [f"| {_named(claim)} | {_statuses(claim, site)} |" for claim in claims]
    yield "\n".join(["| claim | where it stands |", "| --- | --- |", *rows])


def _named(claim: Claim) -> str:
    return f"[{text(claim.statement)}]({PageContext(INDEX).href(claim_page(claim.id))})"


def _statuses(claim: Claim, site: SiteData) -> str:
    """A badge a class, each with the date of its newest session."""
    if claim.retired:
        return f"{retired.BADGE} since {words.day(claim.retired.since)}"
    if isinstance(claim, CitedClaim):
        return f"{badge('cited', cited.word(claim))} {claim.source.year}"
    if isinstance(claim, ModelledClaim):
        found = site.board.models[claim.id]
        return f"{badge(found.status, computed.word(found))} {text(found.reason)}"
    views = [words.view(site, claim, name) for name in site.classes_of(claim)]
    return "<br>".join(_status(view) for view in views)


def _status(view: words.View) -> str:
    place = text(view.site.class_name(view.hardware))
    badge = f'<span class="badge badge-{view.status}">{text(view.word)}</span>'
    session = view.standing.session
    return f"{badge} {place}" + (f", {words.day(session.head.date)}" if session else "")


def json_files(site: SiteData) -> dict[str, str]:
    """The data that the site publishes for other programs, by its path on the site: claims.json, and the schemas."""
    described = {f"schemas/{name}.json": json.dumps(schema, indent=1) + "\n" for name, schema in schemas().items()}
    return {"claims.json": claims_json(site), **described}


def claims_json(site: SiteData) -> str:
    """Every claim and its verdicts, for other programs."""
    claims = [_claim(claim, site) for claim in sorted(site.tree.claims.values(), key=lambda claim: claim.id)]
    found = {"claims": claims, "hardware": hardware_page.as_data(site)}
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _claim(claim: Claim, site: SiteData) -> dict[str, Any]:
    standings = site.board.standings[claim.id]
    model = site.board.models.get(claim.id)
    return {
        "id": claim.id,
        "kind": claim.kind,
        "state": "retired" if claim.retired else "active",
        "retired": claim.retired.model_dump() if claim.retired else None,
        "supersedes": [each.id for each in retired.superseded(claim, site)],
        "statement": claim.statement,
        "page": claim_page(claim.id).removesuffix(".md") + ".html",
        "standings": {name: _standing(standing) for name, standing in standings.items()},
        **({"model": computed.exported(claim, model)} if model and isinstance(claim, ModelledClaim) else {}),
    }


def _standing(standing: Standing) -> dict[str, Any]:
    session = standing.session
    disputed = [each for each, _ in standing.dispute.sides] if standing.dispute else []
    return {
        "status": standing.status,
        "reason": standing.reason,
        "age": standing.age.word if standing.age else None,
        "age_reason": standing.age.reason if standing.age else "",
        "date": session.head.date if session else None,
        "time": session.head.time if session else None,
        "evidence": evidence_file(session.path) if session else None,
        "disputed_between": [evidence_file(each.path) for each in disputed],
        "points": [_point(point) for point in (standing.verdict.points if standing.verdict else ())],
    }


def _point(point: PointVerdict) -> dict[str, Any]:
    return {
        "point": dict(point.point),
        "asserted": point.asserted,
        "verdict": point.verdict,
        "reason": point.reason,
        "ratio": _finite(point.ratio),
        "low": _finite(point.low),
        "high": _finite(point.high),
        "n": point.n,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

"""claims.json with every claim and its verdicts, and a file per claim."""

import json
import math
from collections.abc import Iterable
from statistics import median
from typing import Any

from headroom.io import git_history
from headroom.records import CitedClaim, Claim, MeasuredClaim, ModelledClaim, ReportedClaim
from headroom.records.base import Record
from headroom.records.public_schema import (
    FORMAT_VERSION,
    PublishedAlone,
    PublishedCitation,
    PublishedClaim,
    PublishedClaims,
    PublishedConditions,
    PublishedCrossover,
    PublishedEvent,
    PublishedHardware,
    PublishedModel,
    PublishedPoint,
    PublishedStanding,
)
from headroom.site.claims import (
    cited_claim,
    hardware_page,
    modelled_claim,
    readme_badge,
    retirement_notice,
    verdict_history,
)
from headroom.site.exports import reported_results, samples_csv
from headroom.site.site_data import SiteData, claim_file, claim_page, evidence_file, html_page
from headroom.verdicts import PointVerdict, Standing
from headroom.verdicts.crossover import shape


def claims_json(site: SiteData) -> str:
    """Return claims.json."""
    claims = [published(claim, site) for claim in sorted(site.tree.claims.values(), key=lambda claim: claim.id)]
    return _dumped(_all(_head(site), site, claims))


def files(site: SiteData) -> dict[str, str]:
    """Return claims.json and the file of each claim, by path."""
    claims = [published(claim, site) for claim in sorted(site.tree.claims.values(), key=lambda claim: claim.id)]
    head = _head(site)
    alone = {claim_file(claim.id, ".json"): _dumped(_one(head, claim)) for claim in claims}
    return {"claims.json": _dumped(_all(head, site, claims)), **alone}


def _head(site: SiteData) -> dict[str, Any]:
    """Return the fields that each file has in common, except its schema."""
    last = git_history.last_commit(site.tree.root)
    made = {"commit": last and last.id, "commit_date": last and last.day}
    return {"format_version": FORMAT_VERSION, **made, "site": site.address or None}


def _all(head: dict[str, Any], site: SiteData, claims: list[PublishedClaim]) -> PublishedClaims:
    hardware = {name: PublishedHardware.model_validate(found) for name, found in hardware_page.as_data(site).items()}
    schema = {"$schema": "schemas/claims-file.json"}
    return PublishedClaims.model_validate({**head, **schema, "claims": claims, "hardware": hardware})


def _one(head: dict[str, Any], claim: PublishedClaim) -> PublishedAlone:
    return PublishedAlone.model_validate({**head, "$schema": "schemas/one-claim-file.json", "claim": claim})


def _dumped(record: Record) -> str:
    found = record.model_dump(mode="json", by_alias=True)
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def published(claim: Claim, site: SiteData) -> PublishedClaim:
    """Return one claim with its verdicts."""
    badges = readme_badge.of_claim(claim, site)
    standings = site.board.standings[claim.id]
    model = site.board.models.get(claim.id) if isinstance(claim, ModelledClaim) else None
    kind = claim.metric.kind if isinstance(claim, MeasuredClaim) else None
    return PublishedClaim(
        id=claim.id,
        kind=claim.kind,
        verdict=badges[0].status,
        state="retired" if claim.retired else "active",
        retired=claim.retired,
        supersedes=[each.id for each in retirement_notice.superseded(claim, site)],
        statement=cited_claim.reported(claim) if isinstance(claim, CitedClaim) else claim.statement,
        method=claim.method,
        guide=html_page(claim.guide),
        not_claimed=list(claim.not_claimed),
        conditions=_conditions(claim) if isinstance(claim, MeasuredClaim) else None,
        citation=_citation(claim) if isinstance(claim, CitedClaim) else None,
        metric=claim.metric.title if isinstance(claim, ReportedClaim) else kind and kind.title,
        unit=kind and kind.unit,
        page=html_page(claim_page(claim.id)),
        samples=claim_file(claim.id, ".csv") if samples_csv.known(claim, site) else None,
        badges={badge.hardware: badge.path for badge in badges},
        standings={name: _standing(claim, standing) for name, standing in standings.items()},
        history=[_event(event) for event in verdict_history.events(claim, site)],
        model=PublishedModel.model_validate(modelled_claim.exported(claim, model))
        if model and isinstance(claim, ModelledClaim)
        else None,
        reported=reported_results.exported(site.board.reported[claim.id]) if isinstance(claim, ReportedClaim) else None,
    )


def _conditions(claim: MeasuredClaim) -> PublishedConditions:
    scope = claim.scope
    return PublishedConditions(
        benchmark=claim.benchmark,
        subject=claim.subject,
        baseline=claim.baseline,
        fixed=scope.fixed,
        at=scope.at,
        sweep=scope.sweep,
        holds_for=scope.holds_for,
        hardware=list(scope.hardware),
    )


def _citation(claim: CitedClaim) -> PublishedCitation:
    return PublishedCitation(
        source=claim.source,
        quote=claim.quote,
        figures=list(claim.figures),
        hardware_as_stated=claim.hardware_as_stated,
        independence=claim.independence,
    )


def _standing(claim: Claim, standing: Standing) -> PublishedStanding:
    session = standing.session
    environment = session.head.environment if session else None
    points = standing.verdict.points if standing.verdict else ()
    disputed = [each for each, _ in standing.dispute.sides] if standing.dispute else []
    return PublishedStanding(
        status=standing.status,
        reason=standing.reason,
        age=standing.age.word if standing.age else None,
        age_reason=standing.age.reason if standing.age else "",
        date=session.head.date if session else None,
        time=session.head.time if session else None,
        evidence=evidence_file(session.path) if session else None,
        product=environment and environment.product,
        versions=dict(environment.versions) if environment else {},
        disputed_between=[evidence_file(each.path) for each in disputed],
        crossover=_crossover(claim, points) if points and isinstance(claim, MeasuredClaim) else None,
        points=[_point(point) for point in points],
    )


def _crossover(claim: MeasuredClaim, points: tuple[PointVerdict, ...]) -> PublishedCrossover | None:
    found = shape(claim, points)
    return PublishedCrossover(kind=found.kind, edge=found.edge, between=found.between) if found else None


def _point(point: PointVerdict) -> PublishedPoint:
    return PublishedPoint(
        point=dict(point.point),
        asserted=point.asserted,
        verdict=point.verdict,
        reason=point.reason,
        ratio=_finite(point.ratio),
        low=_finite(point.low),
        high=_finite(point.high),
        level=point.level,
        n=point.n,
        baseline=_median(point.baseline),
        subject=_median(point.subject),
    )


def _event(event: verdict_history.Event) -> PublishedEvent:
    return PublishedEvent(
        date=event.day,
        time=event.time or None,
        hardware=event.hardware or None,
        evidence=evidence_file(event.step.session.path) if event.step else None,
        before=event.before,
        after=event.after,
        why=event.why,
    )


def _median(values: Iterable[float]) -> float | None:
    known = list(values)
    return _finite(median(known)) if known else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

"""claims.json: every claim and its verdicts, for other programs."""

import json
import math
from typing import Any

from headroom.records import Claim, ModelledClaim
from headroom.site.claims import computed, hardware_page, retired
from headroom.site.context import SiteData, claim_page, evidence_file
from headroom.verdicts import PointVerdict, Standing


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

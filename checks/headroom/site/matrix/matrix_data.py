"""The matrix as data: a record per method, class and claim, and per gap."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from headroom.records import MeasuredClaim
from headroom.site.claims import phrasing
from headroom.site.matrix.matrix_rows import ELSEWHERE, GOALS, MatrixRow, hardware, rows
from headroom.site.matrix.outcomes import Outcome
from headroom.site.site_data import SiteData, claim_page

FIELDS = (
    *("method", "variant", "name", "section", "goal", "hardware", "status", "says", "claim", "page", "metric", "unit"),
    *("before", "after", "ratio", "low", "high", "conditions"),
)


def records(site: SiteData) -> Iterator[dict[str, Any]]:
    """Yield a record for every claim of every row on all hardware with evidence, `unmeasured` for gaps."""
    every = list(rows(site))
    for row in every:
        for name in (*hardware(site, every), ELSEWHERE):
            for goal in GOALS:
                known = row.known.get(name, {}).get(goal, ())
                start = {**_names(row), "goal": goal, "hardware": name}
                yield from ({**start, **_known(outcome)} for outcome in known)
                if not known and name:
                    yield {**start, **_unknown(row, goal)}


def _names(row: MatrixRow) -> dict[str, Any]:
    variant = row.variant.name if row.variant else None
    method = row.method
    return {"method": method.id, "variant": variant, "name": row.name, "section": _address(method.section)}


def _address(section: str) -> str:
    page, _, anchor = section.partition("#")
    return f"{page.removesuffix('.md').removesuffix('.ipynb')}.html#{anchor}"


def _unknown(row: MatrixRow, goal: str) -> dict[str, Any]:
    if goal == "quality" and row.method.same_result and not row.variant:
        return {"status": "proven", "says": f"the same, by snippets/{row.method.same_result}.py"}
    return {"status": "unmeasured", "says": phrasing.BADGES["unmeasured"]}


def _known(outcome: Outcome) -> dict[str, Any]:
    claim = outcome.claim
    kind = claim.metric.kind if isinstance(claim, MeasuredClaim) else None
    return {
        "status": outcome.status,
        "says": outcome.word if kind else f"{outcome.word}: {outcome.figures}".removesuffix(": "),
        "claim": claim.id,
        "page": claim_page(claim.id).removesuffix(".md") + ".html",
        "metric": kind and kind.title,
        "unit": kind and kind.unit,
        **{name: getattr(outcome, name) for name in ("before", "after", "ratio", "low", "high")},
        "conditions": outcome.conditions,
    }


def as_json(site: SiteData) -> str:
    """Return all records as JSON."""
    return json.dumps({"methods": list(records(site))}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(site: SiteData) -> str:
    """Return all records as CSV."""
    file = io.StringIO()
    writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _plain(value) for name, value in record.items()} for record in records(site))
    return file.getvalue()


def _plain(value: Any) -> Any:
    """Return a value that spreadsheets do not run as a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value

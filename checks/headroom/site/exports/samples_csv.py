"""The samples behind a claim's verdicts as CSV: every block and arm of the sessions that count."""

import csv
import io
from collections.abc import Iterator

from headroom.io.markdown_escape import one_line
from headroom.records import Claim, MeasuredClaim, Session
from headroom.site.site_data import SiteData, claim_file
from headroom.verdicts import PointVerdict, SessionVerdict

_HEAD = ("hardware", "date", "session", "point", "role", "arm", "block", "value", "unit")
_FORMULA = ("=", "+", "-", "@", "'")
"""Characters at which a spreadsheet would start a formula or quoted text."""


def known(claim: Claim, site: SiteData) -> bool:
    """Tell whether the claim has samples."""
    return any(standing.verdict for standing in site.board.standings[claim.id].values())


def files(site: SiteData) -> dict[str, str]:
    """Return the file of each measured claim, by path."""
    return {claim_file(claim.id, ".csv"): samples(claim, site) for claim in site.tree.measured() if known(claim, site)}


def samples(claim: MeasuredClaim, site: SiteData) -> str:
    """Return a row per value; a value is the median of a run's timed steps."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_HEAD)
    for standing in site.board.standings[claim.id].values():
        if standing.session and standing.verdict:
            for session, verdict in ((standing.session, standing.verdict), *standing.others):
                writer.writerows(_rows(claim, session, verdict))
    return out.getvalue()


def _rows(claim: MeasuredClaim, session: Session, verdict: SessionVerdict) -> Iterator[tuple[object, ...]]:
    head = (session.head.hardware_class, session.head.date, session.path.rpartition("-")[2].removesuffix(".json"))
    for point in verdict.points:
        at = _plain(" ".join(f"{name}={value}" for name, value in point.point.items()))
        for role, arm, values in _arms(claim, point):
            first = (*head, at, role, _plain(arm))
            for number, value in enumerate(values, 1):
                yield (*first, number, repr(value), claim.metric.kind.unit)


def _arms(claim: MeasuredClaim, point: PointVerdict) -> Iterator[tuple[str, str, tuple[float, ...]]]:
    yield "baseline", claim.baseline, point.baseline
    yield "subject", claim.subject, point.subject
    yield "control", claim.baseline, point.control


def _plain(value: str) -> str:
    """Return a text that spreadsheets do not run as a formula."""
    line = one_line(value)
    return f"'{line}" if line.startswith(_FORMULA) else line

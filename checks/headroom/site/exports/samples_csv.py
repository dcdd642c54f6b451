"""The samples behind a claim's verdicts as CSV: what each block measured of each arm, in every session that counts."""

import csv
import io
from collections.abc import Iterator

from headroom.io.markdown_escape import one_line
from headroom.records import Claim, MeasuredClaim, Session
from headroom.site.site_data import SiteData, beside
from headroom.verdicts import PointVerdict, SessionVerdict

_HEAD = ("hardware", "date", "session", "point", "role", "arm", "block", "value", "unit")
_FORMULA = ("=", "+", "-", "@", "'")
"""What a spreadsheet would take for the beginning of a formula, or of a text that is none."""


def known(claim: Claim, site: SiteData) -> bool:
    """Whether there is a sample to show."""
    return any(standing.verdict for standing in site.board.standings[claim.id].values())


def files(site: SiteData) -> dict[str, str]:
    """The file of each claim that was measured, by path."""
    return {beside(claim.id, ".csv"): samples(claim, site) for claim in site.tree.measured() if known(claim, site)}


def samples(claim: MeasuredClaim, site: SiteData) -> str:
    """One row a value: what the verdict was computed from, the median of the timed steps of a run."""
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
    """A text that no spreadsheet runs."""
    line = one_line(value)
    return f"'{line}" if line.startswith(_FORMULA) else line

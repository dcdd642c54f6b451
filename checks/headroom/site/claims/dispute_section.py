"""The section of a claim's page about a dispute: the two contradicting sessions side by side."""

from collections.abc import Iterator, Mapping
from typing import Any

from headroom.io.markdown_escape import text
from headroom.maths.units import human_readable
from headroom.records import MeasuredClaim, Session
from headroom.site.claims import phrasing
from headroom.site.site_data import PageContext, evidence_file
from headroom.verdicts import PointVerdict, SessionVerdict, Standing
from headroom.verdicts.disputes import SETTLED

_UNKNOWN = "unknown"


def section(claim: MeasuredClaim, standing: Standing, place: str, page: PageContext) -> Iterator[str]:
    """Yield the section about one hardware class, or nothing without a dispute.

    Args:
        claim: the disputed claim.
        standing: its verdict on the class.
        place: the class's name in a sentence.
        page: the page that shows the section.
    """
    if standing.dispute is None:
        return
    sides = standing.dispute.sides
    machines = [_machine(session) for session, _ in sides]
    differ = [name for name in dict.fromkeys([*machines[0], *machines[1]]) if _differs(name, machines)]
    yield f"## Disputed on {text(place)} {{ data-search-exclude }}"
    rows = [
        ["", *("says that it holds", "says that the opposite holds")],
        ["---"] * 3,
        ["measured", *(_when(session) for session, _ in sides)],
        ["found", *(text(_found(claim, verdict)) for _, verdict in sides)],
        ["raw data", *(f"[{session.path.rpartition('-')[2]}]({_raw(session, page)})" for session, _ in sides)],
        *([text(name), *(text(machine.get(name, _UNKNOWN)) for machine in machines)] for name in differ),
    ]
    yield "\n".join(f"| {' | '.join(row)} |" for row in rows)
    yield _meaning(standing.dispute.supported[0], differ)


def _meaning(session: Session, differ: list[str]) -> str:
    """Return what readers should conclude, and what ends the dispute."""
    product = text(session.head.environment.product)
    where = (
        f"First check the differences between them: {text(', '.join(differ))}."
        if differ
        else "No recorded property differs between them, so the cause is not recorded."
    )
    return (
        f"Two sessions on the same product ({product}) and minor version of torch contradict each other. Until that is "
        f"explained, trust neither, and measure on your own machine. {where} "
        f"The dispute ends when {SETTLED} sessions in a row agree, or with the first session "
        "on this product with another minor version of torch; no session is ever deleted."
    )


def _machine(session: Session) -> dict[str, str]:
    """Return the known properties of a session's machine and design, as text for the table."""
    found, design = session.head.environment, session.head.design
    plain: Mapping[str, Any] = {
        "product": found.product,
        "power limit": None if found.power_limit_w is None else f"{found.power_limit_w:g} W",
        "driver": found.driver,
        "memory": human_readable(found.memory_bytes, "B"),
        "cores": found.cores,
        "threads": found.threads,
        "instruction sets": ", ".join(found.instruction_sets) or None,
        "system": found.system,
        "virtualised": {True: "yes", False: "no", None: None}[found.virtualised],
        "governor": found.governor,
        "load before": f"{found.load_before:.2g}",
        "blocks": design.blocks,
        "failed runs": len(session.head.failures),
        "harness": session.head.harness,
        **found.versions,
    }
    return {name: _UNKNOWN if value is None else str(value) for name, value in plain.items()}


def _differs(name: str, machines: list[dict[str, str]]) -> bool:
    first, second = (machine.get(name, _UNKNOWN) for machine in machines)
    return first != second


def _when(session: Session) -> str:
    time = f", {session.head.time} UTC" if session.head.time else ""
    return f"{phrasing.day(session.head.date)}{time}"


def _found(claim: MeasuredClaim, verdict: SessionVerdict) -> str:
    """Return a session's ratios at the points that the claim asserts."""
    return "; ".join(_point(claim, point) for point in verdict.points if point.asserted)


def _point(claim: MeasuredClaim, point: PointVerdict) -> str:
    at = phrasing.where(claim, point.point)
    return f"{f'{at}: ' if at else ''}{phrasing.interval(claim, point)}"


def _raw(session: Session, page: PageContext) -> str:
    return page.href(evidence_file(session.path))

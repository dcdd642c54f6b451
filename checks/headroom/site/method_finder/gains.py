"""What a method gains on a hardware class, how well that is known, and what it costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from headroom.io.markdown_escape import text
from headroom.records import CitedClaim, Claim, MeasuredClaim, ReportedClaim
from headroom.records.methods import Effect, Method
from headroom.site.matrix import outcomes
from headroom.site.matrix.outcomes import Outcome
from headroom.site.method_finder.choices import Kind
from headroom.site.site_data import SiteData

_PART = "saved_for_backward"
"""The metric of one memory component; a claim about peak memory takes precedence."""


_STATISTICAL = ("wide", "within_noise")
"""The reasons of an inconclusive verdict that are no gate: the session counts, and its figures do not decide."""


class Ground(IntEnum):
    """The evidence of a gain, the nearest to the reader's model and hardware first."""

    MEASURED = 0
    REPORTED = 1
    CITED = 2
    CARRIED_OVER = 3
    UNMEASURED = 4
    NOT_SHOWN = 5
    """Measured, but without a gain."""


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of a method that is known at the size nearest to the reader's."""

    method: Method
    ground: Ground
    claim: Claim | None = None

    def cell(self) -> str:
        """Return a table cell: the claim's summary and its arms."""
        assert self.claim is not None
        arms = ""
        if isinstance(self.claim, MeasuredClaim | ReportedClaim):
            arms = f"<br><small>{text(self.claim.subject)}, against {text(self.claim.baseline)}</small>"
        return f"[](claim:{self.claim.id}){arms}"


def gain(site: SiteData, method: Method, kind: Kind, hardware: str | None) -> Gain:
    """Return a method's gain by the nearest evidence; among equal evidence, by the first claim of its record."""
    known = [claim for claim in _claims(site, method, kind) if claim.id not in method.costs]
    found = [each for claim in known if (each := _gain(site, method, claim, hardware))]
    own = [each for each in found if each.ground is Ground.NOT_SHOWN]
    shown = [each for each in found if each.ground <= Ground.CARRIED_OVER]
    if own and not any(each.ground is Ground.MEASURED for each in shown):
        return own[0]
    return min(shown, key=lambda each: (each.ground, _is_part(each.claim)), default=Gain(method, Ground.UNMEASURED))


def _gain(site: SiteData, method: Method, claim: Claim, hardware: str | None) -> Gain | None:
    """Return the gain that a claim shows on this hardware, or None if it has no result to show."""
    if isinstance(claim, MeasuredClaim):
        return _measured(site, method, claim, hardware)
    if isinstance(claim, CitedClaim):
        return Gain(method, Ground.CITED, claim) if claim.in_brief else None
    outcome = outcomes.published(site, claim) if isinstance(claim, ReportedClaim) else None
    near = outcome and outcome.gains and hardware and site.on_gpu(hardware)
    return Gain(method, Ground.REPORTED, claim) if near else None


def _measured(site: SiteData, method: Method, claim: MeasuredClaim, hardware: str | None) -> Gain:
    outcome = _outcome(site, method, claim, hardware)
    if outcome is None:
        return Gain(method, Ground.UNMEASURED, claim)
    if not outcome.gains or not outcome.ratio or outcome.ratio <= 1:
        return Gain(method, Ground.NOT_SHOWN, claim)
    return Gain(method, Ground.MEASURED if outcome.here else Ground.CARRIED_OVER, claim)


def _outcome(site: SiteData, method: Method, claim: MeasuredClaim, hardware: str | None) -> Outcome | None:
    """Return the outcome of a claim on a class, or None if it is unmeasured there or its session failed a gate."""
    if not hardware:
        return None
    outcome, standing = outcomes.measured(site, method, claim, hardware), site.board.of(claim, hardware)
    failed = standing.status == "inconclusive" and standing.reason not in _STATISTICAL
    return None if failed or outcome.status == "unmeasured" else outcome


def _is_part(claim: Claim | None) -> bool:
    return isinstance(claim, MeasuredClaim) and claim.metric.name == _PART


def _claims(site: SiteData, method: Method, kind: Effect) -> list[Claim]:
    return [*outcomes.active(site, method.claims.get(kind, ()))]


def cost(site: SiteData, method: Method, gained: Kind, hardware: str | None, section: str) -> str:
    """Return what is known of the method's effect on the other of speed and memory, and on the result."""
    kind: Kind = "memory" if gained == "speed" else "speed"
    other = next(_other(site, method, kind, hardware), None)
    result = next(_result(site, method, section, hardware), None)
    return "<br>".join(filter(None, (other, result))) or "–"


def _other(site: SiteData, method: Method, kind: Kind, hardware: str | None) -> Iterator[str]:
    """Yield claim summaries: costs first, then peak memory."""

    def order(claim: Claim) -> tuple[bool, bool]:
        return claim.id not in method.costs, _is_part(claim)

    yield from _briefs(site, method, sorted(_claims(site, method, kind), key=order), hardware)


def _result(site: SiteData, method: Method, section: str, hardware: str | None) -> Iterator[str]:
    if method.same_result:
        yield f"[same result]({section})"
    yield from _briefs(site, method, _claims(site, method, "quality"), hardware)


def _briefs(site: SiteData, method: Method, claims: list[Claim], hardware: str | None) -> Iterator[str]:
    """Yield the summaries of claims with a result; for one about the method's cost, with the arms swapped."""
    for claim in claims:
        if not _has_result(site, method, claim, hardware):
            continue
        outcome = _outcome(site, method, claim, hardware) if isinstance(claim, MeasuredClaim) else None
        if outcome and isinstance(claim, MeasuredClaim) and claim.id in method.costs:
            yield f"[{outcome.figures} {claim.metric.kind.title}](claim:{claim.id})"
        else:
            yield f"[](claim:{claim.id})"


def _has_result(site: SiteData, method: Method, claim: Claim, hardware: str | None) -> bool:
    """Tell whether the claim has a result to show on this hardware."""
    if isinstance(claim, MeasuredClaim):
        return _outcome(site, method, claim, hardware) is not None
    if isinstance(claim, ReportedClaim):
        return hardware is not None and site.on_gpu(hardware) and outcomes.published(site, claim) is not None
    return isinstance(claim, CitedClaim) and claim.in_brief is not None

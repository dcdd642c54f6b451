"""What a method gains on a hardware class, how well that is known, and what it costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from headroom.io.markdown_escape import text
from headroom.records import CitedClaim, Claim, MeasuredClaim
from headroom.records.methods import Effect, Method
from headroom.site.claims import phrasing
from headroom.site.matrix import outcomes
from headroom.site.matrix.outcomes import Outcome
from headroom.site.method_finder.choices import Kind
from headroom.site.site_data import SiteData

_PART = "saved_for_backward"
"""The metric of one memory component; a claim about peak memory takes precedence."""


class Ground(IntEnum):
    """The evidence of a gain, the strongest first."""

    MEASURED = 0
    CARRIED_OVER = 1
    CITED = 2
    UNMEASURED = 3
    NOT_SHOWN = 4
    """Measured, but without a gain."""


@dataclass(frozen=True, slots=True)
class Gain:
    """The best known gain of a method."""

    method: Method
    ground: Ground
    claim: Claim | None = None
    ratio: float = 1.0

    def cell(self) -> str:
        """Return a table cell: the claim's summary, ratio and arms."""
        if self.claim is None:
            return "not measured"
        arms = ""
        if isinstance(self.claim, MeasuredClaim) and self.ground is not Ground.UNMEASURED:
            ratio = f"{phrasing.number(self.ratio)}×: " if self.ratio > 1 else ""
            arms = f"<br><small>{ratio}{text(self.claim.subject)}, against {text(self.claim.baseline)}</small>"
        return f"[](claim:{self.claim.id}){arms}"


def gain(site: SiteData, method: Method, kind: Kind, hardware: str | None) -> Gain:
    """Return a method's gain: measured on this class, else carried over, else cited, else unknown."""
    known = [claim for claim in _claims(site, method, kind) if claim.id not in method.costs]
    found = [_measured(site, method, claim, hardware) for claim in known if isinstance(claim, MeasuredClaim)]
    cited = [Gain(method, Ground.CITED, claim) for claim in known if isinstance(claim, CitedClaim) and claim.in_brief]
    shown = [each for each in found if each.ground <= Ground.CARRIED_OVER]
    if shown:
        return min(shown, key=lambda each: (each.ground, _is_part(each.claim), -each.ratio))
    own = [each for each in found if each.ground is Ground.NOT_SHOWN]
    return next(iter((*own, *cited, *found)), Gain(method, Ground.UNMEASURED))


def _measured(site: SiteData, method: Method, claim: MeasuredClaim, hardware: str | None) -> Gain:
    outcome = _outcome(site, method, claim, hardware)
    if outcome is None:
        return Gain(method, Ground.UNMEASURED, claim)
    if not outcome.gains or not outcome.ratio or outcome.ratio <= 1:
        return Gain(method, Ground.NOT_SHOWN, claim)
    return Gain(method, Ground.MEASURED if outcome.here else Ground.CARRIED_OVER, claim, outcome.ratio)


def _outcome(site: SiteData, method: Method, claim: MeasuredClaim, hardware: str | None) -> Outcome | None:
    """Return the outcome of a claim on a class, or None if it is unmeasured there."""
    outcome = outcomes.measured(site, method, claim, hardware) if hardware else None
    return None if outcome is None or outcome.status == "unmeasured" else outcome


def _is_part(claim: Claim | None) -> bool:
    return isinstance(claim, MeasuredClaim) and claim.metric.name == _PART


def _claims(site: SiteData, method: Method, kind: Effect) -> list[Claim]:
    return [*outcomes.active(site, method.claims.get(kind, ()))]


def cost(site: SiteData, method: Method, gained: Kind, hardware: str | None, section: str) -> str:
    """Return the method's effect on the other of speed and memory, and on the result."""
    kind: Kind = "memory" if gained == "speed" else "speed"
    other = next(_other(site, method, kind, hardware), f"<small>{kind}: not measured</small>")
    result = next(_result(site, method, section, hardware), "<small>result: not measured</small>")
    return f"{other}<br>{result}"


def _other(site: SiteData, method: Method, kind: Kind, hardware: str | None) -> Iterator[str]:
    """Yield claim summaries: known results first, then costs, then peak memory."""

    def order(claim: Claim) -> tuple[bool, bool, bool]:
        return not _has_result(site, method, claim, hardware), claim.id not in method.costs, _is_part(claim)

    yield from (_brief(site, method, claim, hardware) for claim in sorted(_claims(site, method, kind), key=order))


def _result(site: SiteData, method: Method, section: str, hardware: str | None) -> Iterator[str]:
    if method.same_result:
        yield f"[same result]({section})"
    yield from (_brief(site, method, claim, hardware) for claim in _claims(site, method, "quality"))


def _brief(site: SiteData, method: Method, claim: Claim, hardware: str | None) -> str:
    """Return a claim's summary; for a claim about the method's cost, with the arms swapped.

    A claim without figures shows its metric's name, because the badge alone would not say what it is about.
    """
    title = claim.metric.kind.title if isinstance(claim, MeasuredClaim) else "the result"
    if not _has_result(site, method, claim, hardware):
        return f"[{title}](claim:{claim.id})"
    outcome = _outcome(site, method, claim, hardware) if isinstance(claim, MeasuredClaim) else None
    if outcome and claim.id in method.costs:
        return f"[{outcome.figures} {title}](claim:{claim.id})"
    return f"[](claim:{claim.id})"


def _has_result(site: SiteData, method: Method, claim: Claim, hardware: str | None) -> bool:
    """Tell whether the claim has a result to show on this hardware."""
    if isinstance(claim, MeasuredClaim):
        return _outcome(site, method, claim, hardware) is not None
    return isinstance(claim, CitedClaim) and claim.in_brief is not None

"""What a method gains on a class of hardware, which claim says so and how surely, and what it costs."""

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
"""A part of the memory: a claim about the peak says more of whether something fits."""


class Ground(IntEnum):
    """What a gain stands on, what counts for most first."""

    MEASURED = 0
    CARRIED_OVER = 1
    CITED = 2
    UNMEASURED = 3
    NOT_SHOWN = 4
    """It was measured, and no gain was found."""


@dataclass(frozen=True, slots=True)
class Gain:
    """The best that is known of what a method gains."""

    method: Method
    ground: Ground
    claim: Claim | None = None
    ratio: float = 1.0

    def cell(self) -> str:
        """The claim in brief, and between what it was found."""
        if self.claim is None:
            return "not measured"
        arms = ""
        if isinstance(self.claim, MeasuredClaim) and self.ground is not Ground.UNMEASURED:
            ratio = f"{phrasing.number(self.ratio)}×: " if self.ratio > 1 else ""
            arms = f"<br><small>{ratio}{text(self.claim.subject)}, against {text(self.claim.baseline)}</small>"
        return f"[](claim:{self.claim.id}){arms}"


def gain(site: SiteData, method: Method, kind: Kind, hardware: str | None) -> Gain:
    """What a method gains: measured on this class, else in bytes that carry over, else cited, else not known."""
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
    """What is known of a claim on a class, if anything is."""
    outcome = outcomes.measured(site, method, claim, hardware) if hardware else None
    return None if outcome is None or outcome.status == "unmeasured" else outcome


def _is_part(claim: Claim | None) -> bool:
    return isinstance(claim, MeasuredClaim) and claim.metric.name == _PART


def _claims(site: SiteData, method: Method, kind: Effect) -> list[Claim]:
    return [*outcomes.active(site, method.claims.get(kind, ()))]


def price(site: SiteData, method: Method, gained: Kind, hardware: str | None, section: str) -> str:
    """What stands against a gain: what it does to the other of speed and memory, and to the result."""
    kind: Kind = "memory" if gained == "speed" else "speed"
    other = next(_other(site, method, kind, hardware), f"<small>{kind}: not measured</small>")
    result = next(_result(site, method, section, hardware), "<small>result: not measured</small>")
    return f"{other}<br>{result}"


def _other(site: SiteData, method: Method, kind: Kind, hardware: str | None) -> Iterator[str]:
    """What says most first: what is known here, then what it costs, then the peak."""

    def order(claim: Claim) -> tuple[bool, bool, bool]:
        return not _speaks(site, method, claim, hardware), claim.id not in method.costs, _is_part(claim)

    yield from (_brief(site, method, claim, hardware) for claim in sorted(_claims(site, method, kind), key=order))


def _result(site: SiteData, method: Method, section: str, hardware: str | None) -> Iterator[str]:
    if method.same_result:
        yield f"[same result]({section})"
    yield from (_brief(site, method, claim, hardware) for claim in _claims(site, method, "quality"))


def _brief(site: SiteData, method: Method, claim: Claim, hardware: str | None) -> str:
    """A claim in brief, what praises the other side turned round.

    Where it shows no figure, it is named: its badge alone does not say of what it is.
    """
    title = claim.metric.kind.title if isinstance(claim, MeasuredClaim) else "the result"
    if not _speaks(site, method, claim, hardware):
        return f"[{title}](claim:{claim.id})"
    outcome = _outcome(site, method, claim, hardware) if isinstance(claim, MeasuredClaim) else None
    if outcome and claim.id in method.costs:
        return f"[{outcome.figures} {title}](claim:{claim.id})"
    return f"[](claim:{claim.id})"


def _speaks(site: SiteData, method: Method, claim: Claim, hardware: str | None) -> bool:
    """Whether something is known of it here."""
    if isinstance(claim, MeasuredClaim):
        return _outcome(site, method, claim, hardware) is not None
    return isinstance(claim, CitedClaim) and claim.in_brief is not None

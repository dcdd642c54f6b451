"""What bounds the figures of a hardware class, in words: its noise floor and its roofline."""

from collections.abc import Iterator

from headroom.records import HardwareClass, MeasuredClaim, Session
from headroom.site.claims import phrasing
from headroom.site.site_data import SiteData
from headroom.verdicts.noise_floor import LEAST, Floor
from headroom.verdicts.roofline import bounded

_TERA = 1e12


def of_session(site: SiteData, claim: MeasuredClaim, session: Session) -> Iterator[str]:
    """What a claim about a time was held to in a session; nothing for bytes."""
    head = session.head
    known = site.tree.classes.get(head.hardware_class)
    if known is None or not claim.metric.kind.timed:
        return
    yield floor(site.board.noise.floor(head.hardware_class))
    then = site.board.noise.floor(head.hardware_class, head.date)
    if then and then.counts and then.share > claim.min_effect:
        least = f"more than the least effect that this claim names, {claim.min_effect:.2%}".replace("%", "\u00a0%")
        yield f"By the sessions before that day it was {_percent(then)}, {least}: only a difference beyond it counts"
    yield roofline(bounded(known, site.tree.machines, head.environment))


def floor(found: Floor | None) -> str:
    """The noise floor of a class, and what it stands on."""
    if found is None:
        return "Noise floor of this class: not known yet, since no session has compared a baseline with itself in times"
    counted = f"{found.comparisons} control comparison{'s' * (found.comparisons != 1)}"
    sessions = f"{found.sessions} session{'s' * (found.sessions != 1)}"
    few = "" if found.counts else f"; claims are held to it from {LEAST} on"
    return f"Noise floor of this class: {_percent(found)} over {counted} of {sessions}{few}"


def roofline(known: HardwareClass) -> str:
    """The rate at which a session of a class is not believed, and where it comes from."""
    return f"Roofline: products at more than {tera(known.peak_flops)} are not believed ({known.peak_flops_source})"


def tera(rate: float) -> str:
    """A rate of operations as people read it."""
    return f"{phrasing.number(rate / _TERA)}\u00a0TFLOP/s"


def _percent(found: Floor) -> str:
    return f"{found.share:.2%}".replace("%", "\u00a0%")

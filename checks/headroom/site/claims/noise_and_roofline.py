"""Sentences about a hardware class's noise floor and roofline."""

from collections.abc import Iterator

from headroom.records import HardwareClass, MeasuredClaim, Session
from headroom.site.claims import phrasing
from headroom.site.site_data import SiteData
from headroom.verdicts.noise_floor import LEAST, Floor
from headroom.verdicts.roofline import bounded

_TERA = 1e12


def of_session(site: SiteData, claim: MeasuredClaim, session: Session) -> Iterator[str]:
    """Yield the noise floor and roofline that limited a session's times; nothing for other metrics."""
    head = session.head
    known = site.tree.classes.get(head.hardware_class)
    if known is None or not claim.metric.kind.timed:
        return
    yield floor(site.board.noise.floor(head.hardware_class))
    then = site.board.noise.floor(head.hardware_class, head.date)
    if then and then.counts and then.share > claim.min_effect:
        least = f"more than this claim's least effect, {claim.min_effect:.2%}".replace("%", "\u00a0%")
        yield f"By the sessions before that day it was {_percent(then)}, {least}: only a difference beyond it counts"
    yield roofline(bounded(known, site.tree.machines, head.environment))


def floor(found: Floor | None) -> str:
    """Return a sentence with the noise floor of a class and the number of sessions behind it."""
    if found is None:
        return "Noise floor of this class: not known yet, because no session has timed a baseline against itself"
    counted = f"{found.comparisons} control comparison{'s' * (found.comparisons != 1)}"
    sessions = f"{found.sessions} session{'s' * (found.sessions != 1)}"
    few = "" if found.counts else f"; it limits claims from {LEAST} comparisons on"
    return f"Noise floor of this class: {_percent(found)} over {counted} of {sessions}{few}"


def roofline(known: HardwareClass) -> str:
    """Return a sentence with the rate above which a session is rejected, and its source."""
    return f"Roofline: {tera(known.roofline)}; faster sessions do not count ({known.peak_flops_source})"


def tera(rate: float) -> str:
    """Return a rate of operations in TFLOP/s."""
    return f"{phrasing.number(rate / _TERA)}\u00a0TFLOP/s"


def _percent(found: Floor) -> str:
    return f"{found.share:.2%}".replace("%", "\u00a0%")

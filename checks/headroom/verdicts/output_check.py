"""Whether the runs of a block computed the same, or gave up no more quality than their claim says."""

import math

from headroom.records.claims import MeasuredClaim
from headroom.verdicts.paired_blocks import PairedBlock


def apart(baseline: float | None, other: float | None) -> float:
    """How far two outputs are apart, in relation to the baseline's; beyond all bounds where one is not known."""
    if baseline is None or other is None:
        return math.inf
    if baseline == other:
        return 0.0
    return abs(other - baseline) / abs(baseline) if baseline else math.inf


def lost(claim: MeasuredClaim, block: PairedBlock) -> float:
    """How much of the baseline's quality the subject gives up; beyond all bounds where that is not known."""
    baseline, subject = block.baseline.output, block.subject.output
    if claim.gives_up is None or baseline is None or subject is None:
        return math.inf
    found = claim.gives_up.lost(baseline, subject)
    return math.inf if math.isnan(found) else found

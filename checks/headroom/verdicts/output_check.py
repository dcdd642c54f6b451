"""Compare the outputs of a block's runs: their relative difference, and the quality that the subject gives up."""

import math

from headroom.records.claims import MeasuredClaim
from headroom.verdicts.paired_blocks import PairedBlock


def relative_difference(baseline: float | None, other: float | None) -> float:
    """Return the difference of two outputs relative to the baseline's; infinite if one is unknown."""
    if baseline is None or other is None:
        return math.inf
    if baseline == other:
        return 0.0
    return abs(other - baseline) / abs(baseline) if baseline else math.inf


def quality_loss(claim: MeasuredClaim, block: PairedBlock) -> float:
    """Return how much of the baseline's quality the subject gives up; infinite if that is unknown."""
    baseline, subject = block.baseline.output, block.subject.output
    if claim.gives_up is None or baseline is None or subject is None:
        return math.inf
    found = claim.gives_up.lost(baseline, subject)
    return math.inf if math.isnan(found) else found

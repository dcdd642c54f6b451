"""The noise floor of a hardware class: how far controls differ from their baselines over its sessions."""

import math
from collections import defaultdict
from dataclasses import dataclass, replace

from headroom.records.claims import MeasuredClaim
from headroom.records.evidence import Head, Run, Slot
from headroom.records.metrics import METRICS
from headroom.records.sessions import Session
from headroom.verdicts.gates import busy
from headroom.verdicts.judge import PointVerdict, SessionVerdict, overall
from headroom.verdicts.paired_blocks import RunLayout

LEAST = 20
"""The number of comparisons from which a floor applies to claims; of fewer, the 95th percentile is the largest."""
_SHARE = 0.95
_TIMED = tuple(name for name, kind in METRICS.items() if kind.timed)
_DIFFERENT = ("reversed", "worse", "different")


@dataclass(frozen=True, slots=True)
class Floor:
    """The noise floor of a hardware class: how far times of equal programs differ."""

    share: float
    """The relative difference that 95 % of the comparisons of a baseline with its control do not exceed."""
    comparisons: int
    """The number of comparisons: one per baseline, point and session."""
    sessions: int

    @property
    def counts(self) -> bool:
        """Return whether the floor applies to claims."""
        return self.comparisons >= LEAST


class Noise:
    """The deviations between baseline and control of every session added, by hardware class."""

    def __init__(self) -> None:
        self._by_class: dict[str, list[tuple[str, list[float]]]] = defaultdict(list)
        self._floors: dict[tuple[str, str | None], Floor | None] = {}

    def add(self, session: Session, found: list[float]) -> None:
        """Add the ``deviations`` of a session, possibly none."""
        if found:
            self._by_class[session.head.hardware_class].append((session.head.date, found))
            self._floors.clear()

    def floor(self, hardware_class: str, before: str | None = None) -> Floor | None:
        """Return the floor of a class from all sessions or those before a day; None if there are no comparisons."""
        key = (hardware_class, before)
        if key not in self._floors:
            known = self._by_class.get(hardware_class, ())
            self._floors[key] = _floor([found for date, found in known if before is None or date < before])
        return self._floors[key]

    def apply(self, claim: MeasuredClaim, session: Session, verdict: SessionVerdict) -> SessionVerdict:
        """Make the points ``inconclusive`` whose difference is within the floor of the days before the session."""
        floor = self.floor(session.head.hardware_class, session.head.date)
        if floor is None or not floor.counts:
            return verdict
        return overall(tuple(_apply_at(claim, point, floor.share) for point in verdict.points))


def _floor(known: list[list[float]]) -> Floor | None:
    """Return the floor of the sessions' deviations; None if there are none."""
    every = sorted(each for found in known for each in found)
    return Floor(math.expm1(every[math.ceil(_SHARE * len(every)) - 1]), len(every), len(known)) if every else None


def _apply_at(claim: MeasuredClaim, point: PointVerdict, share: float) -> PointVerdict:
    differs = point.reason in _DIFFERENT or (point.reason == "clear" and claim.relation == "better")
    if differs and point.low <= 1 + share and point.high >= 1 / (1 + share):
        return replace(point, verdict="inconclusive", reason="within_noise")
    return point


def timed(head: Head) -> bool:
    """Return whether a session has a timed metric."""
    return not head.units.keys().isdisjoint(_TIMED)


def deviations(layout: RunLayout) -> list[float]:
    """Return, sorted, the absolute log ratio of control to baseline in each comparison of a session.

    Comparisons on a busy or throttled machine, or with too few blocks, are left out.
    """
    found: list[float] = []
    for slot, controls in layout.runs.items():
        if slot.control:
            baselines = layout.runs.get(Slot(slot.arm, control=False, point=slot.point), [])
            found += _deviation(layout, baselines, controls)
    return sorted(found)


def _deviation(layout: RunLayout, baselines: list[Run], controls: list[Run]) -> list[float]:
    from headroom.maths.statistics import MIN_BLOCKS, typical_ratio  # noqa: PLC0415 - numpy is slow to load, and often not needed

    metric = next((name for name in _TIMED if any(name in run.samples for run in controls)), "")
    runs = [{run.block: run for run in arm if metric in run.samples} for arm in (baselines, controls)]
    pairs = [(runs[0][block], runs[1][block]) for block in sorted(runs[0].keys() & runs[1].keys())]
    every = [run for pair in pairs for run in pair]
    if len(pairs) < MIN_BLOCKS or busy(every, layout.evidence.environment) or any(run.throttled for run in every):
        return []
    first, second = ([layout.value(pair[i], metric) for pair in pairs] for i in (0, 1))
    try:
        ratio = typical_ratio(first, second)
    except Exception:  # noqa: BLE001 - the verdict reports such an error; here the comparison is left out
        return []
    return [] if math.isnan(ratio) else [abs(math.log(ratio))]

"""Choose what a lent machine measures: claims without evidence on its hardware class, by worth per second."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from headroom.execution.session_plan import MeasureError, plan
from headroom.records.claims import MeasuredClaim
from headroom.records.evidence import place
from headroom.records.sessions import Session
from headroom.records.tree import Tree

_MOST_LOST = 0.1  # the gate `failed_runs` of a verdict
START_SECONDS = 30.0
"""The time in which a session imports the libraries and starts."""


@dataclass(frozen=True, slots=True)
class WantedSession:
    """A session that is worth measuring."""

    benchmark: str
    claims: tuple[str, ...]
    seconds: float
    """How long it takes, by recorded sessions or by declaration."""
    worth: float


def wanted_claims(tree: Tree, hardware_class: str, device: str) -> list[MeasuredClaim]:
    """Return the active claims about this kind of device that no session of the hardware class has measured.

    A session that lost some runs of a claim, and so decides nothing, did not measure it. One in which every run of an
    arm failed did: on this hardware, they fail again.
    """
    return [
        claim
        for claim in tree.measured()
        if not claim.retired
        and any(tree.classes[name].device == device for name in claim.scope.hardware if name in tree.classes)
        and not any(
            session.head.benchmark_syntax_sha256 == tree.benchmarks.get(claim.benchmark)
            and measures(session, claim)
            and not _lost_runs(session, claim)
            for session in _of_class(tree, hardware_class)
        )
    ]


def wanted_sessions(
    tree: Tree, hardware_class: str, device: str, most: float, skip: Collection[str] = ()
) -> Iterator[WantedSession]:
    """Yield the sessions that measure the wanted claims, the greatest worth per second first.

    Claims of one benchmark share a session where that saves time.

    Args:
        tree: the tree.
        hardware_class: the class of this machine.
        device: ``cpu`` or ``cuda``.
        most: the longest session, in seconds.
        skip: claims to leave out.
    """
    left = [claim for claim in wanted_claims(tree, hardware_class, device) if claim.id not in skip]
    chooser = _Chooser(tree, hardware_class, device)
    while left:
        best = max(left, key=lambda claim: (chooser.rate([claim]), claim.id))
        group = chooser.extended(best, left, most)
        left = [claim for claim in left if claim not in group]
        names = tuple(claim.id for claim in group)
        if (seconds := chooser.seconds(group)) <= most:
            yield WantedSession(best.benchmark, names, seconds, chooser.worth(group))


@dataclass(frozen=True, slots=True)
class _Chooser:
    tree: Tree
    hardware_class: str
    device: str

    def seconds(self, claims: list[MeasuredClaim]) -> float:
        """Return how long one session of these claims takes; infinity if no session can measure them together."""
        try:
            what = plan(self.tree, [claim.id for claim in claims])
        except MeasureError:
            return float("inf")
        return START_SECONDS + what.blocks * len(what.slots) * self._run_seconds(what.benchmark)

    def worth(self, claims: list[MeasuredClaim]) -> float:
        return sum(self.tree.measuring_order.worth(claim.id) for claim in claims)

    def rate(self, claims: list[MeasuredClaim]) -> float:
        return self.worth(claims) / self.seconds(claims)

    def extended(self, first: MeasuredClaim, left: list[MeasuredClaim], most: float) -> list[MeasuredClaim]:
        """Return a claim with the others that raise the worth per second of its session."""
        group = [first]
        for claim in sorted(left, key=lambda each: (-self.rate([each]), each.id)):
            together = [*group, claim]
            alike = claim.benchmark == first.benchmark and claim.blocks == first.blocks
            if (
                claim not in group
                and alike
                and self.seconds(together) <= most
                and self.rate(together) > self.rate(group)
            ):
                group = together
        return group

    def _run_seconds(self, benchmark: str) -> float:
        """Return the seconds of a run, by the newest session of this class, or else as declared."""
        known = [each for each in _of_class(self.tree, self.hardware_class) if each.head.benchmark == benchmark]
        if not known:
            return self.tree.measuring_order.seconds(benchmark, self.device)
        runs = max(known, key=lambda session: session.head.moment).evidence.runs
        return max(run.ended for run in runs) / len(runs)


def _of_class(tree: Tree, hardware_class: str) -> Iterator[Session]:
    return (session for session in tree.sessions if session.head.hardware_class == hardware_class)


def measures(session: Session, claim: MeasuredClaim) -> bool:
    """Return whether a session ran a claim's arms at all its points, with samples or with failures."""
    arms = (claim.baseline, claim.subject)
    asked = {(claim.metric.name, arm, place(at)) for at in claim.scope.points for arm in arms}
    failed = {(claim.metric.name, failure.arm, place(failure.point)) for failure in session.head.failures}
    return session.head.benchmark == claim.benchmark and asked <= session.measured | failed


def _lost_runs(session: Session, claim: MeasuredClaim) -> bool:
    """Return whether more than a tenth of the runs of an arm failed, and others of it gave samples."""
    failed = Counter((each.arm, each.control, place(each.point)) for each in session.head.failures)
    return any(
        count > _MOST_LOST * session.head.design.blocks
        and arm in (claim.baseline, claim.subject)
        and (claim.metric.name, arm, where) in session.measured
        for (arm, _, where), count in failed.items()
    )

"""A/A tests: sessions of a program against itself, in which every difference found is an error of the harness.

A claim of the topic `harness` compares two arms of the same program, so a supported and a reversed verdict are errors.
Only the gate against a busy machine is used, since the other gates would stop most errors.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from headroom.maths.statistics import Comparison, compare, control_holds
from headroom.records.claims import MeasuredClaim
from headroom.records.evidence import Run
from headroom.records.harness_versions import HarnessVersions
from headroom.records.sessions import Session
from headroom.records.tree import Tree
from headroom.verdicts.gates import busy
from headroom.verdicts.paired_blocks import RunLayout, blocks, value

TOPIC = "harness"
POWER = 0.8
"""The share of the sessions that would have found an effect of the detectable size."""
JOINED = (1, 2, 3)
"""Numbers of consecutive sessions to join into one longer session."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One session of a program against itself."""

    session: Session
    baseline: tuple[float, ...]
    """The baseline's time in each block, in seconds."""
    subject: tuple[float, ...]
    min_effect: float
    """The claim's smallest relative difference that counts."""
    found: Comparison
    """The comparison of the two arms."""
    control: bool
    """Whether the session passes the gate `control_failed`."""
    busy: bool
    """Whether other work used the machine."""
    seconds: float
    """Time from the start of the first run to the end of the last."""

    @property
    def error(self) -> bool:
        """Return whether the session finds a difference that counts, in either direction."""
        mirrored = compare(self.subject, self.baseline, min_effect=self.min_effect)
        return "supported" in (self.found.verdict, mirrored.verdict)


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest effect that sessions of a given length would have found."""

    blocks: int
    sessions: int
    minutes: float
    effect: float
    """Relative improvement: 0.05 is a subject that is 5 % better."""


def trials(tree: Tree, hardware_class: str) -> tuple[Trial, ...]:
    """Return every A/A session of a hardware class, in chronological order."""
    claims = [claim for claim in tree.measured() if claim.id.partition(".")[0] == TOPIC]
    found = [
        _trial(claim, session)
        for claim in claims
        for session in tree.sessions
        if session.head.benchmark == claim.benchmark and session.head.hardware_class == hardware_class
    ]
    return tuple(sorted(found, key=lambda each: each.session.head.moment))


def _trial(claim: MeasuredClaim, session: Session) -> Trial:
    evidence = session.evidence
    paired = blocks(claim, RunLayout(evidence), claim.scope.points[0])
    name = claim.metric.name
    baseline = tuple(value(block.baseline, name) for block in paired)
    subject = tuple(value(block.subject, name) for block in paired)
    controls = [(value(block.baseline, name), value(block.control, name)) for block in paired if block.control]
    return Trial(
        session=session,
        baseline=baseline,
        subject=subject,
        min_effect=claim.min_effect,
        found=compare(baseline, subject, min_effect=claim.min_effect),
        control=control_holds([a for a, _ in controls], [b for _, b in controls]),
        busy=busy(evidence.runs, evidence.environment),
        seconds=_seconds(evidence.runs),
    )


def _seconds(runs: Sequence[Run]) -> float:
    """Return the time from the start of the first run to the end of the last, in seconds."""
    return max(run.ended for run in runs) - min(run.started for run in runs)


def harness_share(runs: Sequence[Run]) -> float | None:
    """Return the harness's own share of a session's time; None if a run did not record its benchmark's time."""
    worked = [run.benchmark_seconds for run in runs if run.benchmark_seconds is not None]
    return 1 - sum(worked) / _seconds(runs) if len(worked) == len(runs) else None


def detectable(trials: Sequence[Trial]) -> Iterator[Detectable]:
    """Yield the smallest detectable effect of each session length of which there are at least five sessions.

    If every sample of the subject improved by a factor, both ends of the interval would improve by this factor. So each
    session gives the smallest factor that lifts its interval above the effect that counts.
    """
    for count in JOINED:
        joined = [trials[i : i + count] for i in range(0, len(trials) - count + 1, count)]
        needed = sorted(map(_needed, joined))
        if len(needed) < 5:  # noqa: PLR2004 - with five, one may miss the effect
            return
        yield Detectable(
            blocks=sum(len(trial.baseline) for trial in joined[0]),
            sessions=len(needed),
            minutes=median(sum(trial.seconds for trial in part) for part in joined) / 60,
            effect=needed[math.ceil(POWER * len(needed)) - 1],
        )


def _needed(part: Sequence[Trial]) -> float:
    baseline = [each for trial in part for each in trial.baseline]
    subject = [each for trial in part for each in trial.subject]
    return (1 + part[0].min_effect) / compare(baseline, subject).low - 1


def harness_shares(tree: Tree, hardware_class: str) -> dict[str, float]:
    """Return the harness's mean share of session time on a hardware class, by benchmark.

    Only sessions count whose harness is that of the newest one, or declared equivalent to it.
    """
    found: dict[str, list[tuple[tuple[str, str], str, float]]] = {}
    for session in tree.sessions:
        head = session.head
        share = harness_share(session.evidence.runs) if head.hardware_class == hardware_class else None
        if share is not None:
            found.setdefault(head.benchmark, []).append(((head.date, head.time or ""), head.harness, share))
    return {name: fmean(_of_newest(sessions, tree.harness_versions)) for name, sessions in sorted(found.items())}


def _of_newest(sessions: Sequence[tuple[tuple[str, str], str, float]], versions: HarnessVersions) -> list[float]:
    _, newest, _ = max(sessions)
    return [share for _, harness, share in sessions if versions.same(harness, newest)]

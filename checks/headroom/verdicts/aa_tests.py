"""What the harness finds where nothing is to be found: sessions of a program against itself (A/A tests).

A claim of the topic `harness` names two arms that are one program. So whatever is supported of it is an error, and so
is whatever is reversed. The gates are left out, but for the one that knows a busy machine: they would stop most errors.
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
"""Share of the sessions in which an effect that counts as detectable would have been found."""
JOINED = (1, 2, 3)
"""How many sessions, one after the other, are taken for one with as many times the blocks."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One session of a program against itself."""

    session: Session
    baseline: tuple[float, ...]
    """What the baseline took in each block, in seconds."""
    subject: tuple[float, ...]
    min_effect: float
    """The least relative difference that counts, as the claim says."""
    found: Comparison
    """What the rule says of these."""
    control: bool
    """Whether the control would have let it pass."""
    busy: bool
    seconds: float
    """From the start of the first run to the end of the last."""

    @property
    def error(self) -> bool:
        """Whether it finds a difference that counts, in either direction."""
        mirrored = compare(self.subject, self.baseline, min_effect=self.min_effect)
        return "supported" in (self.found.verdict, mirrored.verdict)


@dataclass(frozen=True, slots=True)
class Detectable:
    """The gain that sessions of some length would have found."""

    blocks: int
    sessions: int
    minutes: float
    effect: float
    """Relative: of 0.05, a subject that is 5 % better."""


def trials(tree: Tree, hardware_class: str) -> tuple[Trial, ...]:
    """Every session of a class in which a program was measured against itself, in the order of time."""
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
    """From the start of the first run to the end of the last."""
    return max(run.ended for run in runs) - min(run.started for run in runs)


def own_share(runs: Sequence[Run]) -> float | None:
    """Of the time of a session, what the harness took for itself; None where a run does not say."""
    worked = [run.benchmark_seconds for run in runs if run.benchmark_seconds is not None]
    return 1 - sum(worked) / _seconds(runs) if len(worked) == len(runs) else None


def detectable(trials: Sequence[Trial]) -> Iterator[Detectable]:
    """The effect that sessions of these blocks would have found, for each length that there are five sessions of.

    Where every subject had been better by a factor, so would be both ends of every interval. So the least factor that
    lifts an interval above what counts is known of each session.
    """
    for count in JOINED:
        joined = [trials[i : i + count] for i in range(0, len(trials) - count + 1, count)]
        needed = sorted(map(_needed, joined))
        if len(needed) < 5:  # noqa: PLR2004 - of which one may miss it
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


def own_shares(tree: Tree, hardware_class: str) -> dict[str, float]:
    """The harness's mean share of the time of a benchmark's sessions on a class, by benchmark.

    Only sessions count whose harness is that of the newest one, or declared equivalent to it.
    """
    found: dict[str, list[tuple[tuple[str, str], str, float]]] = {}
    for session in tree.sessions:
        head = session.head
        share = own_share(session.evidence.runs) if head.hardware_class == hardware_class else None
        if share is not None:
            found.setdefault(head.benchmark, []).append(((head.date, head.time or ""), head.harness, share))
    return {name: fmean(_of_newest(sessions, tree.harness_versions)) for name, sessions in sorted(found.items())}


def _of_newest(sessions: Sequence[tuple[tuple[str, str], str, float]], versions: HarnessVersions) -> list[float]:
    _, newest, _ = max(sessions)
    return [share for _, harness, share in sessions if versions.same(harness, newest)]

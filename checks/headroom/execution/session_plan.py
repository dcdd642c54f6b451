"""What a session measures: it follows from the claims, whose arms at their points in their metrics are its runs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from headroom.environment import MachineState
from headroom.records.claims import MeasuredClaim
from headroom.records.evidence import Slot
from headroom.records.metrics import METRICS
from headroom.records.tree import Tree


class MeasureError(ValueError):
    """A session cannot be started, or has not become evidence; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a session is to measure."""

    benchmark: str
    claims: tuple[MeasuredClaim, ...]
    slots: Mapping[Slot, tuple[str, ...]]
    """Every run that a block holds, and the metrics that it is asked for."""
    blocks: int


def plan(tree: Tree, names: Iterable[str]) -> Plan:
    """What a session for these claims, or for all claims of a benchmark, measures.

    Raises:
        MeasureError: a name is no measured claim and no benchmark with one, or they need several benchmarks.
    """
    claims: dict[str, MeasuredClaim] = {}
    for name in names:
        found = [claim for claim in tree.measured() if name == claim.id]
        found = found or [claim for claim in tree.measured() if name == claim.benchmark and not claim.retired]
        if not found:
            known = ", ".join(sorted({claim.benchmark for claim in tree.measured()})) or "none"
            raise MeasureError(f"`{name}` is no measured claim, and no benchmark of one; benchmarks are: {known}")
        claims.update({claim.id: claim for claim in found})
    benchmarks = {claim.benchmark for claim in claims.values()}
    if not benchmarks:
        raise MeasureError("nothing to measure; name a benchmark or claims")
    if len(benchmarks) != 1:
        raise MeasureError(f"one session measures one benchmark, not {', '.join(sorted(benchmarks))}; call it for each")
    slots: dict[Slot, set[str]] = {}
    for claim in claims.values():
        for slot in slots_of(claim):
            slots.setdefault(slot, set()).add(claim.metric.name)
    if any("first_step_time" in asked and any(METRICS[name].exact for name in asked) for asked in slots.values()):
        remedy = "name the claims about `first_step_time` in a session of their own"
        raise MeasureError(f"a first step is not timed where memory is traced; {remedy}")
    metrics = {slot: tuple(sorted(names)) for slot, names in slots.items()}
    return Plan(benchmarks.pop(), tuple(claims.values()), metrics, max(claim.blocks for claim in claims.values()))


def slots_of(claim: MeasuredClaim) -> Iterator[Slot]:
    """The runs that a block holds for a claim: baseline, subject and control at each of its points."""
    for point in claim.scope.points:
        at = tuple(sorted(point.items()))
        yield Slot(claim.baseline, control=False, point=at)
        yield Slot(claim.subject, control=False, point=at)
        yield Slot(claim.baseline, control=True, point=at)


def classes(tree: Tree, machine: MachineState) -> list[str]:
    """The classes whose description a machine fits: one, where all is well."""
    return [name for name, known in tree.classes.items() if known.holds(machine)]


def hardware_class(tree: Tree, machine: MachineState) -> str:
    """The class that a machine belongs to.

    Raises:
        MeasureError: none, or more than one.
    """
    found = classes(tree, machine)
    if len(found) != 1:
        sets = ", ".join(machine.instruction_sets)
        seen = f"{machine.product} ({machine.power_limit_w or sets}, {machine.threads} threads)"
        remedy = "describe it in checks/facts/hardware-classes.yml, so that exactly one class matches"
        raise MeasureError(f"this machine, {seen}, is of {', '.join(found) or 'no'} hardware class; {remedy}")
    return found[0]

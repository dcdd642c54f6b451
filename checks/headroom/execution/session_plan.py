"""Plan a session: the arms, points and metrics that claims of a benchmark need, and the number of blocks."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from headroom.environment import MachineState
from headroom.records.claims import MeasuredClaim
from headroom.records.evidence import Slot
from headroom.records.metrics import METRICS
from headroom.records.tree import Tree


class MeasureError(ValueError):
    """A session cannot start, or gave no evidence; the message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The benchmark, claims, runs and blocks of a session."""

    benchmark: str
    claims: tuple[MeasuredClaim, ...]
    slots: Mapping[Slot, tuple[str, ...]]
    """Every run of a block, and its metrics."""
    blocks: int


def plan(tree: Tree, names: Iterable[str]) -> Plan:
    """Return the plan of a session for these claims, or for all active claims of a benchmark.

    Raises:
        MeasureError: a name is neither a measured claim nor a benchmark of one, or the claims need several benchmarks.
    """
    claims: dict[str, MeasuredClaim] = {}
    for name in names:
        found = [claim for claim in tree.measured() if name == claim.id]
        found = found or [claim for claim in tree.measured() if name == claim.benchmark and not claim.retired]
        if not found:
            known = ", ".join(sorted({claim.benchmark for claim in tree.measured()})) or "none"
            raise MeasureError(f"`{name}` is neither a measured claim nor a benchmark of one; benchmarks are: {known}")
        claims.update({claim.id: claim for claim in found})
    benchmarks = {claim.benchmark for claim in claims.values()}
    if not benchmarks:
        raise MeasureError("nothing to measure; name a benchmark or claims")
    if len(benchmarks) != 1:
        several = ", ".join(sorted(benchmarks))
        raise MeasureError(f"one session measures one benchmark, not several ({several}); measure each separately")
    slots: dict[Slot, set[str]] = {}
    for claim in claims.values():
        for slot in slots_of(claim):
            slots.setdefault(slot, set()).add(claim.metric.name)
    if any("first_step_time" in asked and any(METRICS[name].exact for name in asked) for asked in slots.values()):
        remedy = "measure the claims about `first_step_time` in a separate session"
        raise MeasureError(f"`first_step_time` cannot be measured while memory is traced; {remedy}")
    metrics = {slot: tuple(sorted(names)) for slot, names in slots.items()}
    return Plan(benchmarks.pop(), tuple(claims.values()), metrics, max(claim.blocks for claim in claims.values()))


def slots_of(claim: MeasuredClaim) -> Iterator[Slot]:
    """Yield the runs of a block for a claim: baseline, subject and control at each of its points."""
    for point in claim.scope.points:
        at = tuple(sorted(point.items()))
        yield Slot(claim.baseline, control=False, point=at)
        yield Slot(claim.subject, control=False, point=at)
        yield Slot(claim.baseline, control=True, point=at)


def classes(tree: Tree, machine: MachineState) -> list[str]:
    """Return the hardware classes that a machine matches; it should be exactly one."""
    return [name for name, known in tree.classes.items() if known.holds(machine)]


def hardware_class(tree: Tree, machine: MachineState) -> str:
    """Return the hardware class of a machine.

    Raises:
        MeasureError: the machine matches no class, or more than one.
    """
    found = classes(tree, machine)
    if len(found) != 1:
        sets = ", ".join(machine.instruction_sets)
        seen = f"{machine.product} ({machine.power_limit_w or sets}, {machine.threads} threads)"
        remedy = "edit checks/facts/hardware-classes.yml so that exactly one class matches"
        matched = f"several hardware classes ({', '.join(found)})" if found else "no hardware class"
        raise MeasureError(f"this machine, {seen}, matches {matched}; {remedy}")
    return found[0]

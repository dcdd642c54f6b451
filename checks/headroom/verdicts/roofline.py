"""Bound a session's matmul rate by what machines of the same product have reached."""

from collections.abc import Mapping

from headroom.records.evidence import Environment
from headroom.records.facts import HardwareClass
from headroom.records.machines import Machine
from headroom.verdicts.gates import BUSY_SHARE

SLACK = 1.25
"""The factor by which another machine of the same product may be faster; see docs/contribute/statistics.md."""
ALIKE = ("device", "product", "power_limit_w", "threads", "instruction_sets")
"""The fields that must be equal for two machines to be equally fast."""


def bounded(hardware: HardwareClass, machines: Mapping[str, Machine], found: Environment) -> HardwareClass:
    """Return the hardware class with its peak FLOP/s also bounded by the rates measured on equal machines.

    The number format of a step's matmuls is unknown, so the fastest format counts.

    Args:
        hardware: the class.
        machines: records of machines' matmul rates, by path.
        found: the machine of a session.
    """
    rates = {path: machine.fastest for path, machine in machines.items() if _alike(machine, found)}
    if not rates:
        return hardware
    path = max(rates, key=lambda each: rates[each][1])
    name, best = rates[path]
    if SLACK * best >= hardware.roofline:
        return hardware
    source = f"{SLACK:g} times the best {name} matmul rate measured on such a machine, {path}"
    return hardware.model_copy(update={"peak_flops": SLACK * best, "peak_flops_source": source})


def _alike(machine: Machine, found: Environment) -> bool:
    """Return whether two machines are equal, and the recorded one was neither throttled nor busy."""
    seen = machine.environment
    same = all(getattr(seen, name) == getattr(found, name) for name in ALIKE)
    spare = 1 - (1 - BUSY_SHARE) * seen.threads / seen.cores  # other processes may use the cores that it did not use
    return same and not machine.throttled and (machine.others_cpu or 0) <= spare

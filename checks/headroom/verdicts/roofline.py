"""The roofline of a session: how fast a product of matrices can be on its machine."""

from collections.abc import Mapping

from headroom.records.evidence import Environment
from headroom.records.facts import HardwareClass
from headroom.records.machines import Machine
from headroom.verdicts.gates import BUSY_SHARE

SLACK = 1.25
"""What another machine of the same product may be faster by; see docs/contribute/statistics.md."""
ALIKE = ("device", "product", "power_limit_w", "threads", "instruction_sets")
"""What two machines share that can do the same."""


def bounded(hardware: HardwareClass, machines: Mapping[str, Machine], found: Environment) -> HardwareClass:
    """The class as it is for one product: its peak is also bounded by what such machines were seen to reach.

    Args:
        hardware: the class.
        machines: what machines can do, by the paths of their records.
        found: the machine of a session.

    The format of a step's products is not known, so the fastest one counts.
    """
    rates = {path: machine.fastest for path, machine in machines.items() if _alike(machine, found)}
    if not rates:
        return hardware
    path = max(rates, key=lambda each: rates[each][1])
    name, best = rates[path]
    if SLACK * best >= hardware.peak_flops:
        return hardware
    source = f"{SLACK:g} times the best {name} product that such a machine has shown, {path}"
    return hardware.model_copy(update={"peak_flops": SLACK * best, "peak_flops_source": source})


def _alike(machine: Machine, found: Environment) -> bool:
    """Whether it is the same product, run alike, and nothing kept it from showing what it can do."""
    seen = machine.environment
    same = all(getattr(seen, name) == getattr(found, name) for name in ALIKE)
    spare = 1 - (1 - BUSY_SHARE) * seen.threads / seen.cores  # others beside its own cores are no hindrance
    return same and not machine.throttled and (machine.others_cpu or 0) <= spare

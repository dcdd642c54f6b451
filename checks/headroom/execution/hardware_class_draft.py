"""A machine that is of no hardware class yet: what it measures names none, and which entry would give it one."""

import json
import re

from headroom.environment import INSTRUCTION_SETS, MachineState
from headroom.io.todo_markers import gap

NO_CLASS = "no-class"
"""What evidence names as the class of such a machine. There is no class of this name, so it speaks for no claim."""
# The instruction sets that a class is named after, the most telling first.
_TELLING = ("amx_bf16", "avx512_bf16", "avx512f", "avx2", "sve", "bf16", "asimd")


def entry(machine: MachineState) -> str:
    """The entry of checks/facts/hardware-classes.yml, as YAML, that holds this machine and those like it.

    What only its author knows is marked: the rate that no run can exceed, and where that is printed.
    """
    return "\n".join([f"{_id(machine)}:", *(f"  {name}: {value}" for name, value in _fields(machine).items()), ""])


def _id(machine: MachineState) -> str:
    """A name of the form that a class's has."""
    cpu = "-".join(("cpu", next((each for each in _TELLING if each in machine.instruction_sets), "plain")))
    name = cpu if machine.device == "cpu" else re.sub(r"(?i)^nvidia\s+", "", machine.product)
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].rstrip("-") or "unnamed"


def _fields(machine: MachineState) -> dict[str, str]:
    on_cpu = machine.device == "cpu"
    threads = "one thread" if machine.threads == 1 else f"{machine.threads} threads"
    rate = gap("FLOP/s that no run can exceed, in the fastest format, dense, as 1.0e+12")
    return {
        "name": json.dumps(f"{threads} of a CPU like {machine.product}" if on_cpu else f"an {machine.product}"),
        "device": machine.device,
        "match": _cpu(machine) if on_cpu else _gpu(machine),
        "peak_flops": json.dumps(rate),
        "peak_flops_source": json.dumps(gap("where that rate is printed, or how it follows")),
    }


def _cpu(machine: MachineState) -> str:
    has, lacks = (
        ", ".join(name for name in INSTRUCTION_SETS if (name in machine.instruction_sets) is there)
        for there in (True, False)
    )
    return f"{{instruction_sets: [{has}], without: [{lacks}], threads: {machine.threads}}}"


def _gpu(machine: MachineState) -> str:
    limit = "" if machine.power_limit_w is None else f", power_limit_w: {machine.power_limit_w:g}"
    return f"{{product: {json.dumps(machine.product)}{limit}}}"

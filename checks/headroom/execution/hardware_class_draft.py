"""Draft the entry of hardware-classes.yml for a machine that matches no hardware class yet."""

import json
import re

from headroom.environment import INSTRUCTION_SETS, MachineState
from headroom.io.todo_markers import gap

NO_CLASS = "no-class"
"""The class that evidence of such a machine names. No class has this name, so the evidence counts for no claim."""
# The instruction sets that a class is named after, the most specific first.
_NAMING_SETS = ("amx_bf16", "avx512_bf16", "avx512f", "avx2", "sve", "bf16", "asimd")


def entry(machine: MachineState) -> str:
    """Return the entry of checks/facts/hardware-classes.yml, as YAML, that matches this machine.

    TODO marks stand for the two values that the author must look up: the peak FLOP/s and their source.
    """
    return "\n".join([f"{class_id(machine)}:", *(f"  {name}: {value}" for name, value in _fields(machine).items()), ""])


def class_id(machine: MachineState) -> str:
    """Return an id for the class of a machine that matches none."""
    cpu = "-".join(("cpu", next((each for each in _NAMING_SETS if each in machine.instruction_sets), "plain")))
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

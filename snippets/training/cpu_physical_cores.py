# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "if cpu == min(siblings & usable)" = "if cpu in siblings" }
# ///
"""With hyper-threading, the kernel lists each core twice. Take one logical CPU per core, and the cores of one socket."""

import os
import tempfile

# --8<-- [start:enable]
from pathlib import Path


def numbers(text):
    """Return the numbers of a list such as 0-3,8-11."""
    found = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def physical_cores(usable, socket=None, cpus=Path("/sys/devices/system/cpu")):
    """Return one logical CPU per physical core, of one socket or of all."""
    chosen = []
    for cpu in sorted(usable):
        topology = cpus / f"cpu{cpu}/topology"
        package = int((topology / "physical_package_id").read_text())
        siblings = numbers((topology / "thread_siblings_list").read_text())
        if cpu == min(siblings & usable) and socket in (None, package):
            chosen.append(cpu)
    return chosen


# --8<-- [end:enable]

# The proof: on a made machine of 2 sockets with 2 cores of 2 threads, numbered as Linux does, and on this one.
made = Path(tempfile.mkdtemp())
for cpu in range(8):
    topology = made / f"cpu{cpu}/topology"
    topology.mkdir(parents=True)
    (topology / "physical_package_id").write_text(f"{cpu % 4 // 2}\n")
    (topology / "thread_siblings_list").write_text(f"{cpu % 4},{cpu % 4 + 4}\n")
every = set(range(8))
assert physical_cores(every, cpus=made) == [0, 1, 2, 3]
assert physical_cores(every, socket=1, cpus=made) == [2, 3]
assert physical_cores({4, 6, 7}, cpus=made) == [
    4,
    6,
    7,
]  # a core counts by the thread that it may use
assert numbers("0-2,8,10-11\n") == {0, 1, 2, 8, 10, 11}
here = os.sched_getaffinity(0)
try:
    assert set(physical_cores(here)) <= here
except FileNotFoundError:
    print("this machine shows no topology")
print("8 logical CPUs, 4 cores, 2 on each socket")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "min(cores, max(1, int(quota) // int(period)))" = "cores" }
# ///
# ruff: noqa: E402
"""PyTorch does not read a container's CPU quota, so read it and set as many threads as it pays for."""

from os import cpu_count

from torch import set_num_threads

set_num_threads(cpu_count() + 1)  # more than any result, so that the change shows

# --8<-- [start:enable]
import os
import tempfile
from pathlib import Path

import torch


def threads_for(cgroup=Path("/sys/fs/cgroup")):
    """Return the cores that the process may use, at most as many as its quota."""
    cores = len(os.sched_getaffinity(0))
    limit = cgroup / "cpu.max"
    if not limit.exists():  # the root group, or cgroup v1
        return cores
    quota, period = limit.read_text().split()
    if quota == "max":
        return cores
    return min(cores, max(1, int(quota) // int(period)))


torch.set_num_threads(threads_for())
# --8<-- [end:enable]

# The proof: quotas below, at and above the cores; none; and a file that is missing.
cores = len(os.sched_getaffinity(0))
assert 1 <= threads_for() <= cores
assert torch.get_num_threads() == threads_for(), "the threads were not set"
group = Path(tempfile.mkdtemp())
assert threads_for(group) == cores
for text, expected in {
    "max 100000": cores,
    "100000 100000": 1,  # docker run --cpus 1
    "50000 100000": 1,  # half a core still needs a thread
    "150000 100000": 1,  # one and a half pay for one
    "100000 50000": min(2, cores),  # a period of 50 ms
    f"{cores * 100000} 100000": cores,
    f"{(cores + 1) * 100000} 100000": cores,
}.items():
    (group / "cpu.max").write_text(text)
    assert threads_for(group) == expected, (text, threads_for(group))
assert cores > 1, "one core: a quota of one changes nothing here"
allowed = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(allowed)})  # docker run --cpuset-cpus 0
assert threads_for(group) == 1, "the affinity was not read"
os.sched_setaffinity(0, allowed)
print("threads follow the quota")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# timeout = 120
# ablation = { "torch\\n{code}" = "torch" }
# ///
"""torch takes one thread per core that the process may run on, unless OMP_NUM_THREADS says otherwise. It ignores a container's quota."""

import os
import subprocess
import sys
from unittest.mock import patch

printed = patch("builtins.print", wraps=print).start()
patch(
    "os.cpu_count", return_value=999
).start()  # of the machine, not of this process

# ruff: noqa: E402 - what is printed is part of the proof
# --8<-- [start:check]
import torch

print(f"threads: {torch.get_num_threads()}")
print(f"logical CPUs that it may use: {len(os.sched_getaffinity(0))}")
# --8<-- [end:check]


def threads(*, affinity: set[int], omp: str | None = None, code: str = "") -> int:
    """Return the threads of a new process with an affinity and a value of OMP_NUM_THREADS."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_NUM_THREADS")
    }
    if omp:
        env["OMP_NUM_THREADS"] = omp
    found = subprocess.run(  # noqa: S603 - our own program
        [
            sys.executable,
            "-c",
            f"import torch\n{code}\nprint(torch.get_num_threads())",
        ],
        env=env,
        check=True,
        capture_output=True,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, affinity),
    )
    return int(found.stdout)


# The proof: the affinity decides, a lower OMP_NUM_THREADS overrules it, and set_num_threads overrules both, also upwards.
everywhere = os.sched_getaffinity(0)
one = {min(everywhere)}
assert [call.args[0] for call in printed.call_args_list] == [
    f"threads: {torch.get_num_threads()}",
    f"logical CPUs that it may use: {len(everywhere)}",
]
free, bound = threads(affinity=everywhere), threads(affinity=one)
print(f"new processes: {free} threads, {bound} on one core")
assert 1 <= free <= len(everywhere)
assert bound == 1
assert threads(affinity=everywhere, omp="1") == 1
assert threads(affinity=one, omp="1", code="torch.set_num_threads(2)") == 2

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "os.sched_setaffinity(0, mine)" = "os.sched_getaffinity(0)" }
# ///
# ruff: noqa: E402
"""Bind each rank to its own share of the cores, before it starts threads. Without this, the threads of all ranks share all cores."""

# --8<-- [start:enable]
import os


def bind_this_rank():
    """Give this rank an equal, consecutive share of the cores that the job may use."""
    cores = sorted(os.sched_getaffinity(0))
    rank, ranks = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    share = len(cores) // ranks
    mine = cores[rank * share : (rank + 1) * share]
    os.sched_setaffinity(0, mine)
    return share


threads = bind_this_rank()  # before `import torch`
import torch

torch.set_num_threads(threads)
# --8<-- [end:enable]
from pathlib import Path
from unittest.mock import patch

import torch.distributed as dist

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
dist.init_process_group()
cores = [None] * dist.get_world_size()
dist.all_gather_object(cores, sorted(os.sched_getaffinity(0)))
if dist.get_rank() == 0:
    shared = set.intersection(*map(set, cores))
    print(f"cores that the ranks share: {len(shared)}")
# --8<-- [end:is-it-on]

# The proof: the ranks have cores, and no core belongs to two of them. A matmul's threads stay on the rank's cores.
assert dist.get_world_size() == 2
assert all(cores), cores
assert not set(cores[0]) & set(cores[1]), f"the ranks share cores: {cores}"
if dist.get_rank() == 0:
    shown = printed.call_args.args[0]
    assert shown == "cores that the ranks share: 0", f"printed was {shown}"
assert torch.get_num_threads() == threads == len(cores[dist.get_rank()])
torch.ones(512, 512) @ torch.ones(512, 512)
allowed = {
    frozenset(os.sched_getaffinity(int(thread.name)))
    for thread in Path("/proc/self/task").iterdir()
}
assert allowed == {frozenset(cores[dist.get_rank()])}, allowed

# The second of two ranks on the second node, with 8 cores: a share is one of this node's cores.
env = {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}
with (
    patch.dict(os.environ, env),
    patch("os.sched_getaffinity", return_value=range(7, -1, -1)),
    patch("os.sched_setaffinity") as bind,
):
    assert bind_this_rank() == 4
bind.assert_called_once_with(0, [4, 5, 6, 7])
dist.destroy_process_group()

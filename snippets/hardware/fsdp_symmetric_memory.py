# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "model.set_force_sum_reduction_for_comms(True)" = "model.set_requires_gradient_sync(True)" }
# ///
"""set_symm_mem_for_comm of FSDP2 moves the reduce-scatter to symmetric memory only if sum reductions were set before it."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

where = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
if where == "cuda":
    torch.cuda.set_device(dist.get_rank())


def sharded():
    """Return a layer under FSDP2."""
    return fully_shard(torch.nn.Linear(64, 64, device=where))


def kinds(model):
    """Return the names of the classes that send weights and gradients."""
    group = model._get_fsdp_state()._fsdp_param_groups[0]
    comms = (group._all_gather_comm, group._reduce_scatter_comm)
    return tuple(type(comm).__name__ for comm in comms)


model = sharded()
assert kinds(model) == ("DefaultAllGather", "DefaultReduceScatter"), kinds(model)

# Without NCCL, only the choice of the classes can be tested, and no buffer is allocated.
with patch("torch.distributed._symmetric_memory.set_backend"):
    # --8<-- [start:enable]
    # The first line comes first: the second one looks at it.
    model.set_force_sum_reduction_for_comms(True)
    model.set_symm_mem_for_comm()
    # --8<-- [end:enable]

    other = sharded()
    other.set_symm_mem_for_comm()
    other.set_force_sum_reduction_for_comms(True)

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
group = model._get_fsdp_state()._fsdp_param_groups[0]
if dist.get_rank() == 0:
    print(type(group._all_gather_comm).__name__)
    print(type(group._reduce_scatter_comm).__name__)  # on: SymmMemReduceScatter
# --8<-- [end:is-it-on]
if dist.get_rank() == 0:
    shown = tuple(call.args[0] for call in printed.call_args_list)
    assert shown == kinds(model), f"printed was {shown}"

assert kinds(model) == ("SymmMemAllGather", "SymmMemReduceScatter"), kinds(model)
assert kinds(other) == ("SymmMemAllGather", "DefaultReduceScatter"), kinds(other)

# The older switch takes the buffers of both collectives from NCCL's own allocator.
older = sharded()
older.set_allocate_memory_from_process_group_for_comm(True)
expected = ("ProcessGroupAllocAllGather", "ProcessGroupAllocReduceScatter")
assert kinds(older) == expected, kinds(older)
dist.destroy_process_group()

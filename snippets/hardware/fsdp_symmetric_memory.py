# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "module.set_force_sum_reduction_for_comms(True)" = "module.set_requires_gradient_sync(True)" }
# ///
"""set_symm_mem_for_comm of FSDP2 concerns one module, and its reduce-scatter only if sum reductions were set before."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule, fully_shard

where = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
if where == "cuda":
    torch.cuda.set_device(dist.get_rank())


def sharded():
    """Return a model of two layers, each under FSDP2 like the model."""
    layers = [torch.nn.Linear(64, 64, device=where) for _ in range(2)]
    model = torch.nn.Sequential(*layers, torch.nn.LayerNorm(64, device=where))
    for layer in layers:
        fully_shard(layer)
    return fully_shard(model)


def kinds(model):
    """Return the names of the classes that send weights and gradients, per module."""
    groups = [
        group
        for module in model.modules()
        if isinstance(module, FSDPModule)
        for group in module._get_fsdp_state()._fsdp_param_groups
    ]
    comms = [(g._all_gather_comm, g._reduce_scatter_comm) for g in groups]
    return [tuple(type(each).__name__ for each in pair) for pair in comms]


default = ("DefaultAllGather", "DefaultReduceScatter")
symmetric = ("SymmMemAllGather", "SymmMemReduceScatter")
model = sharded()
assert kinds(model) == [default] * 3, kinds(model)

# Without NCCL, only the choice of the classes can be tested, and no buffer is allocated.
with patch("torch.distributed._symmetric_memory.set_backend"):
    # --8<-- [start:enable]
    for module in model.modules():
        if isinstance(module, FSDPModule):  # each call concerns one module
            # The first line comes first: the second one looks at it.
            module.set_force_sum_reduction_for_comms(True)
            module.set_symm_mem_for_comm()
    # --8<-- [end:enable]

    other, root = sharded(), sharded()
    for part in other.modules():
        if isinstance(part, FSDPModule):
            part.set_symm_mem_for_comm()
            part.set_force_sum_reduction_for_comms(True)
    root.set_force_sum_reduction_for_comms(True)
    root.set_symm_mem_for_comm()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
for name, module in model.named_modules():
    if isinstance(module, FSDPModule) and dist.get_rank() == 0:
        for group in module._get_fsdp_state()._fsdp_param_groups:
            gather, reduce = group._all_gather_comm, group._reduce_scatter_comm
            # on: SymmMemAllGather SymmMemReduceScatter
            print(name or "model", type(gather).__name__, type(reduce).__name__)
# --8<-- [end:is-it-on]
shown = [call.args for call in printed.call_args_list]
expected = zip(["model", "0", "1"], kinds(model), strict=True)
expected = (
    [(name, *pair) for name, pair in expected] if dist.get_rank() == 0 else []
)
assert shown == expected, f"printed was {shown}"

assert kinds(model) == [symmetric] * 3, kinds(model)
assert kinds(other) == [("SymmMemAllGather", "DefaultReduceScatter")] * 3, kinds(
    other
)
assert kinds(root) == [symmetric, default, default], kinds(root)

# The older switch takes the buffers of both collectives from NCCL's own allocator, of one module as well.
older = sharded()
older.set_allocate_memory_from_process_group_for_comm(True)
expected = ("ProcessGroupAllocAllGather", "ProcessGroupAllocReduceScatter")
assert kinds(older) == [expected, default, default], kinds(older)
dist.destroy_process_group()

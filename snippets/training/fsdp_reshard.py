# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "(layer, mesh=mesh, reshard_after_forward=False)" = "(layer, mesh=mesh)" }
# ///
"""reshard_after_forward=False gathers each layer once instead of twice in a step, and holds all parameters from the forward to the backward pass."""

import copy
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.debug import CommDebugMode

device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (dist.get_world_size(),))
torch.manual_seed(0)
layers = [
    nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    for _ in range(4)
]
model = nn.Sequential(nn.Embedding(256, 64), *layers, nn.Linear(64, 256)).to(device)
parameters = sum(p.numel() for p in model.parameters())
plain = copy.deepcopy(model)

# --8<-- [start:enable]
for layer in model[1:-1]:
    fully_shard(layer, mesh=mesh, reshard_after_forward=False)
fully_shard(model, mesh=mesh, reshard_after_forward=False)
# --8<-- [end:enable]


printed = patch("builtins.print", wraps=print).start()


def check(model):
    # --8<-- [start:is-it-on]
    torch.manual_seed(dist.get_rank())
    with CommDebugMode() as counter:
        loss = model(torch.randint(256, (128,), device=device)).logsumexp(-1).mean()
        whole = [p for p in model.parameters() if not isinstance(p, DTensor)]
        unsharded = sum(p.numel() for p in whole)
        loss.backward()
    if dist.get_rank() == 0:
        print(
            f"whole after the forward pass: {unsharded / parameters:.2f} of the parameters"
        )
        for operation, count in counter.get_comm_counts().items():
            print(operation, count)
    # --8<-- [end:is-it-on]
    return counter, unsharded


counter, unsharded = check(model)
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: one gather per group instead of two, the same reduce-scatters,
# all parameters whole between forward and backward, and sharded again after backward.
assert dist.get_world_size() == 2
counts = {str(k).split(".")[-1]: v for k, v in counter.get_comm_counts().items()}
assert counts == {"_allgather_base_": 4 + 1, "_reduce_scatter_base_": 4 + 1}, counts
assert unsharded == parameters
lines = [
    "c10d._allgather_base_ 5",
    "c10d._reduce_scatter_base_ 5",
    "whole after the forward pass: 1.00 of the parameters",
]
assert sorted(shown) == ([] if dist.get_rank() else lines), f"printed was {shown}"
assert all(isinstance(p, DTensor) for p in model.parameters())
held = sum(p.to_local().numel() for p in model.parameters())
assert held == parameters // 2

# By default, only the root's group is whole after the forward pass: embedding and LM head.
default = copy.deepcopy(plain)
for layer in default[1:-1]:
    fully_shard(layer, mesh=mesh)
fully_shard(default, mesh=mesh)
check(default)
ends = sum(p.numel() for layer in (plain[0], plain[-1]) for p in layer.parameters())
share = f"whole after the forward pass: {ends / parameters:.2f} of the parameters"
texts = [call.args[0] for call in printed.call_args_list[len(shown) :]]
assert dist.get_rank() or share in texts, f"printed was {texts}"

# With an explicit True, the root's group is gathered again, too: 2L + 2.
again = copy.deepcopy(plain)
for layer in again[1:-1]:
    fully_shard(layer, mesh=mesh, reshard_after_forward=True)
fully_shard(again, mesh=mesh, reshard_after_forward=True)
with CommDebugMode() as counter:
    again(torch.arange(128, device=device)).logsumexp(-1).mean().backward()
counts = {str(k).split(".")[-1]: v for k, v in counter.get_comm_counts().items()}
assert counts == {"_allgather_base_": 2 * 4 + 2, "_reduce_scatter_base_": 4 + 1}, (
    counts
)
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# ablation = { "(nodes, dist.get_world_size() // nodes)" = "(1, dist.get_world_size())" }
# ///
"""On a mesh of two dimensions, fully_shard divides the weights within a node and averages the gradient shards between nodes."""

import copy
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
torch.manual_seed(0)
layers = [
    nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    for _ in range(4)
]
model = nn.Sequential(nn.Embedding(256, 64), *layers, nn.Linear(64, 256)).to(device)
parameters = sum(p.numel() for p in model.parameters())
reference = copy.deepcopy(model)
nodes = 2

# --8<-- [start:enable]
mesh = init_device_mesh(
    device,
    (nodes, dist.get_world_size() // nodes),
    mesh_dim_names=("replicate", "shard"),
)
for layer in model[1:-1]:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
# --8<-- [end:enable]


class Traffic(TorchDispatchMode):
    """Record name, ranks and payload in elements of each collective."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "c10d":
            tensors = [x for x in tree_leaves(args) if isinstance(x, torch.Tensor)]
            group = next(x for x in args if isinstance(x, torch.ScriptObject))
            ranks = dist.get_process_group_ranks(dist.ProcessGroup.unbox(group))
            name = func.name().removeprefix("c10d::").strip("_")
            self.sent.append((name, tuple(ranks), max(x.numel() for x in tensors)))
        return func(*args, **(kwargs or {}))


torch.manual_seed(1 + dist.get_rank())
tokens = torch.randint(256, (32,), device=device)
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
if dist.get_rank() == 0:
    for dimension in mesh.mesh_dim_names:
        print(dimension, dist.get_process_group_ranks(mesh[dimension].get_group()))
# --8<-- [end:is-it-on]
shown = [call.args for call in printed.call_args_list]
with Traffic() as traffic:
    nn.functional.cross_entropy(model(tokens), tokens).backward()

# The proof, on each rank: half of the parameters, gathers and reduce-scatters among the two ranks of a
# node, and all-reduces of half the gradients with the same rank of the other node.
assert dist.get_world_size() == 4
held = sum(p.to_local().numel() for p in model.parameters())
assert held == parameters // 2, (
    f"this rank holds {held / parameters:.2f} of the parameters"
)
rank = dist.get_rank()
node, peers = (rank // 2 * 2, rank // 2 * 2 + 1), (rank % 2, rank % 2 + 2)
named = {
    name: tuple(dist.get_process_group_ranks(mesh[name].get_group()))
    for name in mesh.mesh_dim_names
}
assert named == {"replicate": peers, "shard": node}, named
lines = [] if rank else [("replicate", [0, 2]), ("shard", [0, 1])]
assert shown == lines, f"printed was {shown}"
groups = {
    name: {r for n, r, _ in traffic.sent if n == name}
    for name, _, _ in traffic.sent
}
assert groups == {
    "allgather_base": {node},
    "reduce_scatter_base": {node},
    "allreduce": {peers},
}, groups
reduced = [size for name, _, size in traffic.sent if name == "allreduce"]
assert sum(reduced) == parameters // 2, reduced

# Gradients are averages over all four batches.
nn.functional.cross_entropy(reference(tokens), tokens).backward()
for p, q in zip(model.parameters(), reference.parameters(), strict=True):
    dist.all_reduce(q.grad)
    torch.testing.assert_close(p.grad.full_tensor(), q.grad / 4)
dist.destroy_process_group()

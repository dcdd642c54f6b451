# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# ablation = { "(2, 2), mesh_dim_names=(\"dp\", \"tp\")" = "(2, 2), mesh_dim_names=(\"tp\", \"dp\")" }
# ///
"""The last axis of a mesh has consecutive ranks, which torchrun places on one node; the first axis has one rank per node."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

gpus_per_node = 2  # of two nodes, played by four processes

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:enable]
device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (2, 2), mesh_dim_names=("dp", "tp"))


def nodes_of(axis):
    """Return the nodes that this rank's group of an axis is on."""
    ranks = dist.get_process_group_ranks(mesh[axis].get_group())
    return ranks, sorted({rank // gpus_per_node for rank in ranks})


for axis in mesh.mesh_dim_names:
    ranks, nodes = nodes_of(axis)
    print(f"rank {dist.get_rank()}: {axis} has ranks {ranks}, on nodes {nodes}")
# --8<-- [end:enable]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: the group of the last axis is on one node, that of the first on both, and
# an all-reduce over an axis adds up the numbers of exactly those ranks.
assert dist.get_world_size() == mesh.size() == 4
rank = dist.get_rank()
neighbours, nodes = nodes_of("tp")
assert nodes == [rank // 2], f"tp is on nodes {nodes}"
assert neighbours == [rank // 2 * 2, rank // 2 * 2 + 1]
peers, nodes = nodes_of("dp")
assert nodes == [0, 1], f"dp is on nodes {nodes}"
first = rank // 2 * 2
assert shown == [
    f"rank {rank}: dp has ranks {[rank % 2, rank % 2 + 2]}, on nodes [0, 1]",
    f"rank {rank}: tp has ranks {[first, first + 1]}, on nodes [{rank // 2}]",
], f"printed was {shown}"
for axis, members in (("tp", neighbours), ("dp", peers)):
    total = torch.tensor(10**rank, device=device)
    dist.all_reduce(total, group=mesh[axis].get_group())
    assert total == sum(10**member for member in members)
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# needs = ["cuda:2"]
# ablation = { "policy = CPUOffloadPolicy()" = "policy = OffloadPolicy()" }
# ///
"""CPUOffloadPolicy keeps shards of weights, gradients and optimizer states in CPU memory, and copies a layer's shards to the GPU for its gather."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (  # noqa: F401
    CPUOffloadPolicy,
    OffloadPolicy,
    fully_shard,
)

dist.init_process_group("cpu:gloo,cuda:nccl")
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
torch.manual_seed(0)
layers = [
    nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    for _ in range(4)
]
model = nn.Sequential(nn.Embedding(256, 64), *layers, nn.Linear(64, 256))
parameters = sum(p.numel() for p in model.parameters())

# --8<-- [start:enable]
policy = CPUOffloadPolicy()
for layer in model[1:-1]:
    fully_shard(layer, mesh=mesh, offload_policy=policy)
fully_shard(model, mesh=mesh, offload_policy=policy)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)  # runs on the CPU
# --8<-- [end:enable]

computed = set()
for layer in layers:
    layer[0].register_forward_hook(lambda m, *_: computed.add(m.weight.device.type))
tokens = torch.randint(256, (32,), device="cuda")
nn.functional.cross_entropy(model(tokens), tokens).backward()
optimizer.step()

# --8<-- [start:is-it-on]
moments = [optimizer.state[p]["exp_avg"] for p in model.parameters()]
places = {t.device.type for p in model.parameters() for t in (p, p.grad)}
places |= {moment.device.type for moment in moments}
if dist.get_rank() == 0:
    print("weights, gradients and optimizer states:", places)
# --8<-- [end:is-it-on]

# The proof, on each rank: a half of everything, in CPU memory, and the layers ran on the GPU.
assert dist.get_world_size() == 2
assert places == {"cpu"}, places
assert computed == {"cuda"}, computed
assert sum(p.to_local().numel() for p in model.parameters()) == parameters // 2
dist.destroy_process_group()

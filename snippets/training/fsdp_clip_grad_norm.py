# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "norm.full_tensor()" = "norm", "clip_grad_norm_(model.parameters(), max_norm=0.01)" = "get_total_norm([p.grad.to_local() for p in model.parameters()])" }
# ///
"""clip_grad_norm_ on sharded gradients clips by the norm over all ranks; it returns a DTensor, and full_tensor() makes it a plain tensor."""

import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

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
reference = copy.deepcopy(model)
for layer in model[1:-1]:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
torch.manual_seed(1 + dist.get_rank())
tokens = torch.randint(256, (32,), device=device)

# --8<-- [start:enable]
nn.functional.cross_entropy(model(tokens), tokens).backward()
norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.01)
norm = norm.full_tensor()  # a plain tensor: call it on each rank
# --8<-- [end:enable]
if dist.get_rank() == 0:
    print(f"norm of the gradients: {norm.item():.4f}")

# The proof, on each rank: norm and clipped gradients are those of one process with all batches.
assert dist.get_world_size() == 2
nn.functional.cross_entropy(reference(tokens), tokens).backward()
for q in reference.parameters():
    dist.all_reduce(q.grad)
    q.grad /= 2
expected = torch.nn.utils.clip_grad_norm_(reference.parameters(), max_norm=0.01)
assert expected > 0.1, "nothing to clip"
assert abs(norm - expected) < 1e-5 * expected, (
    f"{norm.item()}, not {expected.item()}"
)
for p, q in zip(model.parameters(), reference.parameters(), strict=True):
    torch.testing.assert_close(p.grad.full_tensor(), q.grad)
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "fully_shard(layer, mesh=mesh[\"dp\"])" = "pass", "fully_shard(model, mesh=mesh[\"dp\"])" = "pass" }
# ///
"""Tensor parallelism on the inner mesh axis, then fully_shard on the outer one: each rank holds a quarter of each matrix, and gathers only its own half of it."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM

checkpoint = "HuggingFaceTB/SmolLM2-135M"
batches = torch.randint(100, (2, 1, 64), generator=torch.Generator().manual_seed(0))

# --8<-- [start:enable]
device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (2, 2), mesh_dim_names=("dp", "tp"))

model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
columns, rows = (
    ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj"),
    ("o_proj", "down_proj"),
)
for layer in model.to(device).model.layers:
    plan = {f"*.{name}": ColwiseParallel() for name in columns}
    plan |= {f"*.{name}": RowwiseParallel() for name in rows}
    parallelize_module(layer, mesh["tp"], plan)  # first tensor parallelism,
    fully_shard(layer, mesh=mesh["dp"])  # then FSDP
fully_shard(model, mesh=mesh["dp"])

tokens = batches[mesh["dp"].get_local_rank()].to(device)  # one batch per pair
# --8<-- [end:enable]


class Gathered(TorchDispatchMode):
    """Note the bytes that each all-gather returns."""

    def __init__(self):
        super().__init__()
        self.sizes = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.name().endswith("_allgather_base_"):
            self.sizes.append(args[0].nbytes)
        return func(*args, **(kwargs or {}))


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with Gathered() as gathered:
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
down = model.model.layers[0].mlp.down_proj.weight
print(
    f"rank {dist.get_rank()}: {tuple(down.to_local().shape)} of {tuple(down.shape)}"
)
print(down.device_mesh, down.placements)
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: local shapes, the ranks of each group, gathers of half of each
# layer's matrices, and the mean of the gradients of one process on both batches.
assert dist.get_world_size() == 4
dp, tp = mesh.get_coordinate()
assert dist.get_process_group_ranks(mesh["tp"].get_group()) == [2 * dp, 2 * dp + 1]
assert dist.get_process_group_ranks(mesh["dp"].get_group()) == [tp, tp + 2]
assert isinstance(down, DTensor)
assert down.to_local().shape == (64, 192), down.to_local().shape
assert model.model.layers[0].mlp.up_proj.weight.to_local().shape == (96, 128)
assert model.model.norm.weight.to_local().shape == (64,)
assert shown == [
    f"rank {2 * dp + tp}: (64, 192) of (128, 384)",
    f"{mesh} (Shard(dim=0), Shard(dim=1))",
], f"printed was {shown}"

reference = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
block = reference.model.layers[0]
norms = sum(p.nbytes for p in block.parameters() if p.ndim == 1)
matrices = sum(p.nbytes for p in block.parameters() if p.ndim == 2)
expected = [matrices // 2 + norms] * 2 * len(reference.model.layers)
layers_gathered = [size for size in gathered.sizes if size in expected]
assert layers_gathered == expected, (
    f"gathered {gathered.sizes}, not half a layer each"
)
assert len(gathered.sizes) == len(expected) + 1, "the root gathers once"
losses = [reference(input_ids=b, labels=b).loss for b in batches]
torch.stack(losses).mean().backward()
assert torch.allclose(loss.detach().cpu(), losses[dp].detach()), "the loss differs"
pairs = zip(model.named_parameters(), reference.parameters(), strict=True)
for (name, one), other in pairs:
    apart = (one.grad.full_tensor().cpu() - other.grad).norm() / other.grad.norm()
    assert apart < 1e-4, (
        f"the gradient of {name} differs by {apart:.1e} of its length"
    )
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "param_dtype=torch.bfloat16" = "param_dtype=torch.float32" }
# ///
"""MixedPrecisionPolicy gathers and computes in bf16, sums gradients in fp32, and keeps fp32 weights, gradients and optimizer states."""

import contextlib
import io

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

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

# --8<-- [start:enable]
policy = MixedPrecisionPolicy(
    param_dtype=torch.bfloat16, reduce_dtype=torch.float32
)
for layer in model[1:-1]:
    fully_shard(layer, mesh=mesh, mp_policy=policy)
fully_shard(model, mesh=mesh, mp_policy=policy)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
# --8<-- [end:enable]


class Traffic(TorchDispatchMode):
    """Record name, data type and payload in bytes of each collective."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "c10d":
            tensors = [x for x in tree_leaves(args) if isinstance(x, torch.Tensor)]
            largest = max(tensors, key=lambda tensor: tensor.nbytes)
            name = func.name().removeprefix("c10d::").strip("_")
            self.sent.append((name, largest.dtype, largest.nbytes))
        return func(*args, **(kwargs or {}))

    def payload(self, name):
        """Return the bytes of all collectives of this name."""
        return sum(size for found, _, size in self.sent if found == name)


# --8<-- [start:is-it-on]
def show_types(layer, _, output):
    if dist.get_rank() == 0:
        print("computed in", layer.weight.dtype, "and returned", output.dtype)


layers[0][0].register_forward_hook(show_types)
# --8<-- [end:is-it-on]
computed = []
layers[0][0].register_forward_hook(lambda *call: computed.append(call[2].dtype))
tokens = torch.randint(256, (128,), device=device)
printed = io.StringIO()
with Traffic() as traffic, contextlib.redirect_stdout(printed):
    logits = model(tokens)
    nn.functional.cross_entropy(logits.float(), tokens).backward()
optimizer.step()
print(printed.getvalue(), end="")

# The proof, on each rank: gathers carry bf16 and reduce-scatters fp32, so gathers have half the bytes
# per parameter; weights, gradients and optimizer states stay fp32.
assert dist.get_world_size() == 2
gathers = [(t, size) for name, t, size in traffic.sent if name == "allgather_base"]
scatters = [
    (t, size) for name, t, size in traffic.sent if name == "reduce_scatter_base"
]
assert len(gathers) == 9
assert len(scatters) == 5
assert {dtype for dtype, _ in gathers} == {torch.bfloat16}, gathers
assert {dtype for dtype, _ in scatters} == {torch.float32}, scatters
root = parameters - 4 * sum(p.numel() for p in layers[0].parameters())
assert sum(size for _, size in gathers) == 2 * (2 * parameters - root)
assert sum(size for _, size in scatters) == 4 * parameters
assert computed == [torch.bfloat16]
if dist.get_rank() == 0:
    shown = "computed in torch.bfloat16 and returned torch.bfloat16\n"
    assert printed.getvalue() == shown, printed.getvalue()
for p in model.parameters():
    kept = [
        p,
        p.grad,
        optimizer.state[p]["exp_avg"],
        optimizer.state[p]["exp_avg_sq"],
    ]
    assert {tensor.dtype for tensor in kept} == {torch.float32}
if dist.get_rank() == 0:
    print(
        f"gathers: {traffic.payload('allgather_base') / parameters:.1f} bytes per parameter"
    )
    scattered = traffic.payload("reduce_scatter_base") / parameters
    print(f"reduce-scatters: {scattered:.1f} bytes per parameter")
dist.destroy_process_group()

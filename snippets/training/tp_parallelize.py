# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "parallelize_module(model, mesh, plan)" = "pass" }
# ///
"""ColwiseParallel and RowwiseParallel divide a layer's matrices over two ranks, at six all-reduces without a gate."""

import copy
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)


class Layer(nn.Module):
    """A layer of GPT's kind, with separate query, key and value projections."""

    def __init__(self, hidden=128, size=32):
        super().__init__()
        self.q, self.k, self.v, self.o = (
            nn.Linear(hidden, hidden, bias=False) for _ in range(4)
        )
        self.up, self.down = (
            nn.Linear(hidden, 4 * hidden),
            nn.Linear(4 * hidden, hidden),
        )
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(2))
        self.size = size

    def forward(self, x):
        """Compute as many heads as this rank's part of q, k and v has."""
        y = self.norms[0](x)
        q, k, v = (
            f(y).unflatten(-1, (-1, self.size)).transpose(1, 2)
            for f in (self.q, self.k, self.v)
        )
        heads = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(heads.transpose(1, 2).flatten(2))
        y = self.norms[1](x)
        return x + self.down(nn.functional.gelu(self.up(y)))


layers = 3
torch.manual_seed(0)  # the same weights and the same batch on all ranks
model = nn.Sequential(*(Layer() for _ in range(layers)))
whole = copy.deepcopy(model)
batch = torch.randn(2, 16, 128)

# --8<-- [start:enable]
device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (dist.get_world_size(),))

columns, rows = ColwiseParallel(), RowwiseParallel()
plan = {
    "*.q": columns,
    "*.k": columns,
    "*.v": columns,
    "*.o": rows,
    "*.up": columns,
    "*.down": rows,
}
parallelize_module(model, mesh, plan)
# --8<-- [end:enable]
model.to(device)
batch = batch.to(device).requires_grad_()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with CommDebugMode() as forward:
    loss = model(batch).square().mean()
with CommDebugMode() as backward:
    loss.backward()

weight = model[0].q.weight
print(
    f"q: {tuple(weight.to_local().shape) if isinstance(weight, DTensor) else 'whole'}"
)
print(f"forward: {forward.get_total_counts() / layers:g} collectives per layer")
print(f"backward: {backward.get_total_counts() / layers:g}")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: the shapes, two all-reduces forward and four backward, and the gradients of one process.
assert dist.get_world_size() == 2
shapes = {
    "q": (64, 128),
    "k": (64, 128),
    "v": (64, 128),
    "o": (128, 64),
    "up": (256, 128),
    "down": (128, 256),
}
for layer in model:
    for name, shape in shapes.items():
        matrix = layer.get_submodule(name).weight
        assert isinstance(matrix, DTensor), f"{name} is whole"
        assert matrix.to_local().shape == shape, (name, matrix.to_local().shape)
for counter, each in (
    (forward, 2),
    (backward, 4),
):  # q, k, v and up each reduce the gradient of their input
    counts = {op.__name__: n for op, n in counter.get_comm_counts().items()}
    assert counts == {"all_reduce": each * layers}, counts
assert shown == [
    "q: (64, 128)",
    "forward: 2 collectives per layer",
    "backward: 4",
], f"printed was {shown}"
whole(batch.detach().cpu()).square().mean().backward()
for p, q in zip(model.parameters(), whole.parameters(), strict=True):
    gradient = p.grad.full_tensor() if isinstance(p.grad, DTensor) else p.grad
    apart = (gradient.cpu() - q.grad).norm() / q.grad.norm()
    assert apart < 1e-4, f"the gradients differ by {apart:.1e}"
dist.destroy_process_group()

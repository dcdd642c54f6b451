# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "set_requires_gradient_sync(last)" = "set_requires_gradient_sync(True)" }
# ///
"""With set_requires_gradient_sync(False), FSDP2 skips reduce-scatters but still gathers the weights in every micro-batch."""

from collections import Counter
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils._python_dispatch import TorchDispatchMode

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
for layer in model[1:-1]:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
torch.manual_seed(1 + dist.get_rank())
micro_batches = [torch.randint(256, (32,), device=device) for _ in range(4)]


# --8<-- [start:enable]
def accumulate(micro_batches):
    for number, tokens in enumerate(micro_batches, 1):
        last = number == len(micro_batches)
        model.set_requires_gradient_sync(last)
        loss = nn.functional.cross_entropy(model(tokens), tokens)
        (loss / len(micro_batches)).backward()


# --8<-- [end:enable]
printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
class Collectives(TorchDispatchMode):
    """Count the collectives by name."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "c10d":
            self.counts[func.name().removeprefix("c10d::").strip("_")] += 1
        return func(*args, **(kwargs or {}))


with Collectives() as collectives:
    accumulate(micro_batches)
if dist.get_rank() == 0:
    print(dict(collectives.counts))
# --8<-- [end:is-it-on]
shown = [call.args for call in printed.call_args_list]

# The proof, on each rank: one reduce-scatter per group in four micro-batches, four times the gathers
# of one, and the gradients of a run that reduces in each micro-batch.
assert dist.get_world_size() == 2
expected = {"allgather_base": 4 * (2 * 4 + 1), "reduce_scatter_base": 4 + 1}
assert collectives.counts == expected, collectives.counts
assert shown == ([] if dist.get_rank() else [(expected,)]), f"printed was {shown}"
gradients = [p.grad.to_local().clone() for p in model.parameters()]
model.zero_grad()
model.set_requires_gradient_sync(True)
for tokens in micro_batches:
    (nn.functional.cross_entropy(model(tokens), tokens) / 4).backward()
for ours, p in zip(gradients, model.parameters(), strict=True):
    torch.testing.assert_close(ours, p.grad.to_local())
    assert ours.any()
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "no_sync = model.no_sync() if i < last else nullcontext()" = "no_sync = nullcontext()" }
# ///
"""With no_sync, four micro-batches send the bytes of one all-reduce of all gradients, and the gradients are the same."""

import os
from contextlib import nullcontext
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group()
torch.manual_seed(0)
model = DistributedDataParallel(
    nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 8)).to(device)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(1 + dist.get_rank())
micro_batches = [
    (torch.randn(4, 64, device=device), torch.randn(4, 8, device=device))
    for _ in range(4)
]


# --8<-- [start:enable]
def accumulate(micro_batches):
    last = len(micro_batches) - 1
    for i, (inputs, targets) in enumerate(micro_batches):
        no_sync = model.no_sync() if i < last else nullcontext()
        with no_sync:  # around the forward pass, too
            loss = nn.functional.mse_loss(model(inputs), targets)
            (loss / len(micro_batches)).backward()


# --8<-- [end:enable]


class Payloads(TorchDispatchMode):
    """Note the bytes of each all-reduce."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            self.sent.append(sum(tensor.nbytes for tensor in args[0]))
        return func(*args, **(kwargs or {}))


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with Payloads() as payloads:  # notes the bytes of each all-reduce
    accumulate(micro_batches)
gradients = sum(p.grad.nbytes for p in model.parameters())
share = sum(payloads.sent) / gradients
print(share, "times the gradients' bytes")  # on: 1.0, off: 4.0
# --8<-- [end:is-it-on]
shown = printed.call_args.args

assert dist.get_world_size() == 2
assert shown == (1.0, "times the gradients' bytes"), f"printed was {shown}"
# The same gradients as without no_sync, on every rank; a forward pass outside of it synchronizes all the same.
found = [p.grad.clone() for p in model.parameters()]
optimizer.zero_grad()
for inputs, targets in micro_batches:
    (nn.functional.mse_loss(model(inputs), targets) / 4).backward()
for one, parameter in zip(found, model.parameters(), strict=True):
    assert torch.allclose(one, parameter.grad, rtol=1e-4, atol=1e-7)
    ranks = [torch.empty_like(one) for _ in range(2)]
    dist.all_gather(ranks, one)
    assert ranks[0].equal(ranks[1]), "the ranks have different gradients"
    assert one.any(), "no gradient"
with Payloads() as outside:
    output = model(micro_batches[0][0])
    with model.no_sync():
        output.sum().backward()
assert sum(outside.sent) == gradients, "the forward pass may be outside by now"
assert sum(payloads.sent) == gradients, f"{payloads.sent} of {gradients} bytes"
dist.destroy_process_group()

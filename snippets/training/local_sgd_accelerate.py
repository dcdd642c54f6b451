# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "        local_sgd.step()" = "        pass" }
# ///
"""Accelerate's LocalSGD averages the weights of all ranks every few steps, and sends no gradients."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from accelerate import Accelerator
from accelerate.local_sgd import LocalSGD
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

accelerator = Accelerator(cpu=not torch.cuda.is_available())
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
model, optimizer = accelerator.prepare(model, optimizer)
torch.manual_seed(1 + accelerator.process_index)  # each rank reads other data
batches = torch.randn(16, 4, 16, device=accelerator.device)
kept, sends = [], []


class Payloads(TorchDispatchMode):
    """Note the bytes of each all-reduce."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            self.sent.append(sum(tensor.nbytes for tensor in args[0]))
        return func(*args, **(kwargs or {}))


def note():
    """Keep the weights, and the messages until now."""
    kept.append([p.detach().clone() for p in model.parameters()])
    sends.append([*payloads.sent])


printed = patch("builtins.print", wraps=print).start()
payloads = Payloads()
payloads.__enter__()
# --8<-- [start:loop]
with LocalSGD(accelerator=accelerator, model=model, local_sgd_steps=8) as local_sgd:
    for step, batch in enumerate(batches, start=1):
        accelerator.backward(model(batch).square().mean())
        optimizer.step()
        optimizer.zero_grad()
        local_sgd.step()
        # --8<-- [end:loop]
        # --8<-- [start:is-it-on]
        # in the loop, on two ranks: False at step 7, True at step 8
        mine = torch.cat([p.detach().flatten() for p in model.parameters()])
        same = torch.equal(*accelerator.gather(mine).chunk(2))
        if step in (7, 8):
            print(f"step {step}, the same weights on both ranks: {same}")
        # --8<-- [end:is-it-on]
        note()
payloads.__exit__(None, None, None)
shown = [call.args[0] for call in printed.call_args_list]

assert dist.get_world_size() == 2
assert shown == [
    "step 7, the same weights on both ranks: False",
    "step 8, the same weights on both ranks: True",
], f"printed was {shown}"


def of_all_ranks(tensors):
    """Return the tensors of each rank, as one vector per rank."""
    mine = torch.cat([t.flatten() for t in tensors])
    found = [torch.empty_like(mine) for _ in range(2)]
    dist.all_gather(found, mine)
    return found


# Steps 8 and 16 send the weights, in a message per tensor; the others send nothing.
one = [p.nbytes for p in model.parameters()]
expected = [one * (step // 8) for step in range(1, 17)]
assert sends == expected, f"sent {[len(s) for s in sends]} messages"
for step, weights in enumerate(kept, start=1):
    a, b = of_all_ranks(weights)
    assert torch.equal(a, b) == (step % 8 == 0), f"step {step}"

# Nothing else was exchanged: alone, a rank takes the same eight steps.
torch.manual_seed(0)
twin = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 4))
twin = twin.to(accelerator.device)
adam = torch.optim.AdamW(twin.parameters(), lr=1e-2)
for batch in batches[:8]:
    twin(batch).square().mean().backward()
    adam.step()
    adam.zero_grad()
a, b = of_all_ranks([p.detach() for p in twin.parameters()])
mean = torch.cat([p.flatten() for p in kept[7]])
torch.testing.assert_close(mean, (a + b) / 2)
assert (a - b).abs().max() > 1e-3, "both ranks did the same"
accelerator.end_training()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { "DistributedDataParallel(model.to(device))" = "model.to(device)" }
# ///
"""With DDP, each rank sends the bytes of all gradients once per step, and then holds the average of the ranks' gradients."""

import copy
import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, DistributedSampler
from transformers import AutoModelForCausalLM

checkpoint = "Qwen/Qwen3-0.6B"
dataset = torch.randint(0, 100, (8, 32), generator=torch.Generator().manual_seed(0))

# --8<-- [start:enable]
device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # set by torchrun
    torch.cuda.set_device(device)
dist.init_process_group()  # NCCL on GPUs, Gloo on a CPU

model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = DistributedDataParallel(model.to(device))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
sampler = DistributedSampler(dataset)  # each rank gets its own part
loader = DataLoader(dataset, batch_size=2, sampler=sampler)

for epoch in range(2):
    sampler.set_epoch(epoch)  # another order in each epoch
    for batch in loader:
        tokens = batch.to(device)
        model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
# --8<-- [end:enable]


# --8<-- [start:count]
class Payloads(TorchDispatchMode):
    """Note the bytes of each all-reduce."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            self.sent.append(sum(tensor.nbytes for tensor in args[0]))
        return func(*args, **(kwargs or {}))


# --8<-- [end:count]


# Two epochs of two steps on each rank, the second in another order.
assert sampler.epoch == 1, f"the order is that of epoch {sampler.epoch}"
steps = {int(state["step"]) for state in optimizer.state.values()}
assert steps == {4}, f"{steps} optimizer steps"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"


def gather(tensor):
    """Return this tensor of every rank."""
    found = [torch.empty_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(found, tensor.contiguous())
    return found


orders = []
for epoch in range(2):
    sampler.set_epoch(epoch)
    orders.append(list(sampler))
    ranks = gather(torch.tensor(orders[-1], device=device))
    assert sorted(torch.cat(ranks).tolist()) == list(range(8)), "a row is missing"
assert orders[0] != orders[1], "both epochs have one order"

# Each rank's own gradients, from a copy that is not distributed.
tokens = next(iter(loader)).to(device)
own = copy.deepcopy(getattr(model, "module", model))
own(input_ids=tokens, labels=tokens).loss.backward()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with Payloads() as payloads:  # notes the bytes of each all-reduce
    model(input_ids=tokens, labels=tokens).loss.backward()
gradients = sum(p.nbytes for p in model.parameters())
print(f"rank {dist.get_rank()} of {dist.get_world_size()} sent", end=" ")
print(sum(payloads.sent) / gradients, "times the gradients' bytes")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

assert dist.get_world_size() == 2
first, second = gather(tokens)
assert not first.equal(second), "both ranks train on the same batch"
assert sum(payloads.sent) == gradients, f"sent {payloads.sent} of {gradients} bytes"
line = f"rank {os.environ['RANK']} of 2 sent"
assert shown == [line, "1.0 times the gradients' bytes"], f"printed was {shown}"
for local, reduced in zip(own.parameters(), model.parameters(), strict=True):
    one, two = gather(local.grad)
    assert not one.equal(two), "the ranks' own gradients are equal"
    average = (one + two) / 2
    error = (reduced.grad - average).norm() / average.norm()
    assert error < 1e-5, f"the gradient is not the average, by {error:.1e}"
    assert all(other.equal(reduced) for other in gather(reduced.detach()))
dist.destroy_process_group()

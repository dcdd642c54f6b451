# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "model = DistributedDataParallel(model)" = "model.no_sync = nullcontext" }
# ///
# ruff: noqa: E402
"""A complete training script for several CPUs: a rank per socket, bound to its cores; DDP over gloo; one all-reduce per optimizer step."""

import torch

torch.set_num_threads(99)  # so that the shown code has to set another number
# --8<-- [start:enable]
import os
from contextlib import nullcontext

cores = sorted(os.sched_getaffinity(0))
local, per_machine = (
    int(os.environ["LOCAL_RANK"]),
    int(os.environ["LOCAL_WORLD_SIZE"]),
)
share = len(cores) // per_machine
os.sched_setaffinity(0, cores[local * share : (local + 1) * share])  # before torch

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
from transformers import AutoModelForCausalLM

torch.set_num_threads(share)
has = torch.cpu.get_capabilities()
fast_bf16 = bool(has.get("avx512_bf16") or has.get("amx_bf16"))
dist.init_process_group("gloo")

torch.manual_seed(0)  # the same initial weights everywhere
model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.float32
).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
model = DistributedDataParallel(model)
rows = torch.randint(3, 500, (32, 64))  # your tokenized data set
sampler = DistributedSampler(rows, shuffle=True, seed=0, drop_last=True)
loader = DataLoader(rows, batch_size=2, sampler=sampler)
accumulation = 4  # micro-batches per all-reduce


def train(epoch):
    """Train on this rank's rows; return the loss of all ranks per optimizer step."""
    sampler.set_epoch(epoch)
    optimizer.zero_grad()  # micro-batches that filled no step
    losses, total = [], torch.zeros(())
    for index, batch in enumerate(loader):
        last = index % accumulation == accumulation - 1
        with nullcontext() if last else model.no_sync():
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=fast_bf16):
                out = model(input_ids=batch, labels=batch, use_cache=False)
            (out.loss / accumulation).backward()
        total += out.loss.detach() / accumulation
        if last:
            optimizer.step()
            optimizer.zero_grad()
            dist.all_reduce(total)
            losses.append(total.item() / dist.get_world_size())
            total = torch.zeros(())
    return losses


# --8<-- [end:enable]
from unittest.mock import patch

from torch.profiler import profile

seen = []
getattr(model, "module", model).register_forward_hook(
    lambda *args: seen.append(args[-1].loss.item())
)
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
losses = [loss for epoch in range(4) for loss in train(epoch)]
weights = torch.cat([p.detach().flatten() for p in model.parameters()])
everyone = [torch.empty_like(weights) for _ in range(dist.get_world_size())]
dist.all_gather(everyone, weights)
same = all(weights.equal(other) for other in everyone)
if dist.get_rank() == 0:
    print(f"equal weights: {same}, loss {losses[0]:.2f} -> {losses[-1]:.2f}")
# --8<-- [end:is-it-on]

# The proof: two ranks on different cores with different rows end with the same weights, and the loss falls.
assert dist.get_world_size() == 2
homes = [None, None]
dist.all_gather_object(homes, (sorted(os.sched_getaffinity(0)), list(sampler)))
assert not set(homes[0][0]) & set(homes[1][0]), homes
assert not set(homes[0][1]) & set(homes[1][1]), "the ranks read the same rows"
assert torch.get_num_threads() == share
assert same, "the ranks have different weights"
assert losses[-1] < losses[0] - 0.5, losses
means = torch.tensor([sum(seen[:4]), sum(seen[-4:])]) / 8  # two ranks' four batches
dist.all_reduce(means)
assert abs(means[0] - losses[0]) < 1e-3, (means, losses)
assert abs(means[1] - losses[-1]) < 1e-3, (means, losses)
if dist.get_rank() == 0:
    shown = printed.call_args.args[0]
    text = f"loss {losses[0]:.2f} -> {losses[-1]:.2f}"
    assert shown == f"equal weights: True, {text}", f"printed was {shown}"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
# An all-reduce of the gradients per optimizer step, and one of the loss: fewer than micro-batches.
with profile() as trace:
    train(4)
calls = sum(e.count for e in trace.key_averages() if "gloo:all_reduce" in e.key)
assert 2 < calls < len(loader), calls
assert homes[dist.get_rank()][1] != list(sampler), "each epoch has the same order"
# Three micro-batches that fill no step leave nothing for the next epoch.
loader = list(loader)[:3]
assert train(5) == []
loader = []
assert train(6) == []
assert all(p.grad is None for p in model.parameters()), (
    "the next epoch adds to them"
)
dist.destroy_process_group()

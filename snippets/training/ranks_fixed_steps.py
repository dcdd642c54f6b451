# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "samples // (batch_size * dist.get_world_size())" = "samples // batch_size" }
# ///
"""A number of steps that was chosen for one process lets two processes train on twice the samples. Divided by the ranks, it is half the steps for the same samples."""

from itertools import cycle, islice

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

dist.init_process_group("gloo")  # a CPU is enough to see it
rank = dist.get_rank()
data = torch.randn(64, 8, generator=torch.Generator().manual_seed(0))
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
samples, batch_size = 64, 4  # samples to train on, sequences per GPU


# --8<-- [start:fault]
def steps_of_one_gpu():
    return samples // batch_size  # or max_steps, from the run on one GPU


# --8<-- [end:fault]


# --8<-- [start:enable]
def steps_of_all_gpus():
    return samples // (batch_size * dist.get_world_size())


# --8<-- [end:enable]


def train(steps):
    """Train, and return the number of samples that this rank computed."""
    loader = DataLoader(data, batch_size, sampler=DistributedSampler(data, seed=0))
    computed = 0
    for batch in islice(cycle(loader), steps):
        model(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        computed += len(batch)
    return computed


# --8<-- [start:is-it-on]
def samples_of_all_ranks(computed):
    total = torch.tensor(computed)
    dist.all_reduce(total)
    return total.item()


# --8<-- [end:is-it-on]

# The proof, on every rank: half the steps compute 64 samples in all. With the steps of one GPU, each
# rank computes as many samples as one GPU did, so the job takes as long, and computes 128.
assert dist.get_world_size() == 2, f"{dist.get_world_size()} ranks"
steps = steps_of_all_gpus()
computed = train(steps)
total = samples_of_all_ranks(computed)
assert (steps, computed, total) == (8, 32, 64), (steps, computed, total)
assert samples_of_all_ranks(rank + 1) == 1 + 2, "not the sum over the ranks"
as_before = steps_of_one_gpu()
unchanged = train(as_before)
twice = samples_of_all_ranks(unchanged)
assert (as_before, unchanged, twice) == (16, 64, 128), (as_before, unchanged, twice)
if rank == 0:
    print(f"{as_before} steps: {unchanged} samples per rank, {twice} in all")
    print(f"{steps} steps: {computed} samples per rank, {total} in all")
dist.destroy_process_group()

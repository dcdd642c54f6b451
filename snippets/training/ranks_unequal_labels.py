# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "count_of_all_ranks(labels) / world_size" = "(labels != -100).sum()" }
# ///
"""DDP averages the ranks' gradients, so a rank with few labels counts as much as one with many. Divided by the labels of all ranks, the gradient is that of one GPU."""

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")  # a CPU is enough to see it
rank, world_size = dist.get_rank(), dist.get_world_size()


# --8<-- [start:enable]
def count_of_all_ranks(labels):
    count = (labels != -100).sum()
    dist.all_reduce(count)
    return count


def loss_of(logits, labels):
    """Return this rank's share of the mean over all labels of all ranks."""
    total = cross_entropy(logits, labels, ignore_index=-100, reduction="sum")
    return total / (count_of_all_ranks(labels) / world_size)  # DDP divides by N


# --8<-- [end:enable]


def mean_of_this_rank(logits, labels):
    return cross_entropy(logits, labels, ignore_index=-100)


def gradient(loss_function, model, inputs, labels):
    """Return the weight's gradient, and the number of labels."""
    model.zero_grad()
    loss_function(model(inputs), labels).backward()
    return next(model.parameters()).grad.clone()


draw = torch.Generator().manual_seed(0)
inputs = torch.randn(32, 8, generator=draw)
labels = torch.randint(5, (32,), generator=draw)
labels[2:16] = -100  # rank 0 has 2 labels, rank 1 has 16
mine = slice(16 * rank, 16 * rank + 16)

torch.manual_seed(0)
alone = torch.nn.Linear(8, 5)
expected = gradient(mean_of_this_rank, alone, inputs, labels)  # one GPU, all rows
shared = DistributedDataParallel(alone)


def distance(loss_function):
    found = gradient(loss_function, shared, inputs[mine], labels[mine])
    return ((found - expected).norm() / expected.norm()).item()


# The proof, on every rank: the gradient is that of one process, and with the mean of each rank it is not.
assert world_size == 2, f"{world_size} ranks"
kept = int((labels[mine] != -100).sum())
assert kept == (2, 16)[rank], f"rank {rank} has {kept} labels"
right = distance(loss_of)
assert right < 1e-5, f"rank {rank}: the gradient differs by {right:.1e}"
wrong = distance(mean_of_this_rank)
assert wrong > 0.1, (
    f"rank {rank}: the mean of means has the same gradient: {wrong:.1e}"
)
# Three labels of two ranks: the divisor is 1.5.
few = torch.tensor([0, -100, -100] if rank else [0, 1, -100])
share = loss_of(torch.zeros(3, 5), few)
assert torch.allclose(share, torch.tensor(5).log() * (2 - rank) / 1.5), share
if rank == 0:
    print(
        f"divided by all labels: {right < 1e-5}, mean of each rank: {wrong < 1e-5}"
    )
dist.destroy_process_group()

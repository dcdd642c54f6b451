# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "    dist.all_reduce(counts)" = "    pass" }
# ///
"""A metric of all ranks is the sum of their hits divided by the sum of their rows. The mean of the ranks' means is another number."""

from contextlib import suppress
from unittest.mock import patch

import torch
import torch.distributed as dist

dist.init_process_group("gloo")  # a CPU is enough to see it
rank, world_size = dist.get_rank(), dist.get_world_size()


# --8<-- [start:enable]
def accuracy_of_all_ranks(predictions, labels):
    """Return the accuracy over the rows of all ranks."""
    hits = (predictions == labels).sum()
    rows = torch.tensor(labels.numel(), device=hits.device)
    counts = torch.stack([hits, rows]).double()
    dist.all_reduce(counts)
    return (counts[0] / counts[1]).item()


# --8<-- [end:enable]


def mean_of_means(predictions, labels):
    mean = (predictions == labels).double().mean()
    dist.all_reduce(mean)
    return mean.item() / world_size


# Rank 0 has 3 rows and predicts all. Rank 1 has 1 row and predicts none.
labels = torch.tensor([1, 2, 3] if rank == 0 else [4])
predictions = torch.tensor([1, 2, 3] if rank == 0 else [0])

# The proof, on every rank: 3 of 4 rows are right, and the mean of 1.0 and 0.0 is one half.
assert world_size == 2, f"{world_size} ranks"
right = accuracy_of_all_ranks(predictions, labels)
assert right == 0.75, f"rank {rank}: accuracy {right}"
wrong = mean_of_means(predictions, labels)
assert wrong == 0.5, f"rank {rank}: mean of means {wrong}"
# One wrong row of more than 2**25 in all: float32 could not count them.
many = torch.zeros(2**24 + 1, dtype=torch.int8)
nearly = many.clone()
nearly[0] = 1 - rank
right_of_many = accuracy_of_all_ranks(nearly, many)
assert right_of_many == 1 - 1 / (2 * many.numel()), right_of_many


class SentError(Exception):
    """Ends a reduction that this machine cannot do."""


def note_device(counts):
    sent_from.append(counts.device.type)
    raise SentError


# The counts are on the device of the labels, where NCCL reduces them.
sent_from = []
elsewhere = torch.ones(3, device="meta")
with patch.object(dist, "all_reduce", note_device), suppress(SentError):
    accuracy_of_all_ranks(elsewhere, elsewhere)
assert sent_from == ["meta"], sent_from
if rank == 0:
    print(f"accuracy {right}, mean of means {wrong}")
dist.destroy_process_group()

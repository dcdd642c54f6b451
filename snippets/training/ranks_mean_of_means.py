# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "    dist.all_reduce(counts)" = "    pass" }
# ///
"""A metric of all ranks is the sum of their hits divided by the sum of their rows. The mean of the ranks' means is another number."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")  # a CPU is enough to see it
rank, world_size = dist.get_rank(), dist.get_world_size()


# --8<-- [start:enable]
def accuracy_of_all_ranks(predictions, labels):
    """Return the accuracy over the rows of all ranks."""
    hits = (predictions == labels).sum()
    counts = torch.stack([hits, torch.tensor(labels.numel())]).double()
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
if rank == 0:
    print(f"accuracy {right}, mean of means {wrong}")
dist.destroy_process_group()

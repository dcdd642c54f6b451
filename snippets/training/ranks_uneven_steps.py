# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "steps_of_all(len(batches), group)" = "len(batches)" }
# ///
"""A rank with more batches than another one hangs in its last backward pass. With the fewest steps of all ranks, every rank ends."""

from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")  # a CPU is enough to see the hang
rank = dist.get_rank()


# --8<-- [start:enable]
def steps_of_all(mine, group=None):
    """Return the fewest batches that any rank has."""
    fewest = torch.tensor(mine)  # on the GPU with NCCL
    dist.all_reduce(fewest, op=dist.ReduceOp.MIN, group=group)
    return int(fewest)


# --8<-- [end:enable]


def train(batches, steps, group):
    """Train for some steps; return how many ended, and the error."""
    model = DistributedDataParallel(torch.nn.Linear(4, 1), process_group=group)
    ended = 0
    try:
        for batch in batches[:steps]:
            model(batch).sum().backward()
            ended += 1
    except RuntimeError as raised:
        return ended, str(raised)
    return ended, ""


def of_all_ranks(value):
    """Return the value of each rank."""
    values = [None] * 2
    dist.all_gather_object(values, value)
    return values


def new_group():
    return dist.new_group(backend="gloo", timeout=timedelta(seconds=4))


assert dist.get_world_size() == 2, f"{dist.get_world_size()} ranks"
batches = [
    torch.randn(2, 4) for _ in range(5 + 2 * rank)
]  # 5 on rank 0, 7 on rank 1

# The proof: with the cure, both ranks end after 5 steps. Without it, rank 1 ends 5 and waits in its sixth.
group = new_group()
results = of_all_ranks(train(batches, steps_of_all(len(batches), group), group))
assert results == [(5, ""), (5, "")], f"with the fewest steps: {results}"
alone = [dist.new_group([each]) for each in (0, 1)][rank]
assert steps_of_all(len(batches), alone) == len(batches), (
    "ranks of another group count"
)
results = of_all_ranks(train(batches, len(batches), new_group()))
assert results[0] == (5, ""), f"rank 0: {results[0]}"
ended, error = results[1]
assert ended == 5, f"rank 1 ended {ended} steps"
assert "Timed out waiting 4000ms for" in error, f"rank 1: {error}"
if rank == 0:
    print(f"batches per rank: {of_all_ranks(len(batches))}")
else:
    of_all_ranks(len(batches))
dist.destroy_process_group()

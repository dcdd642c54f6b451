# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "sampler.set_epoch(epoch)" = "pass" }
# ///
"""DistributedSampler gives each rank its own part of the data, in a new order in each epoch only if set_epoch is called."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

dist.init_process_group()
dataset = torch.arange(12)

# --8<-- [start:enable]
sampler = DistributedSampler(dataset, seed=0)  # same seed on all ranks
loader = DataLoader(dataset, batch_size=2, sampler=sampler)


def epochs(count):
    for epoch in range(count):
        sampler.set_epoch(epoch)
        yield torch.cat(list(loader))


# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
first, second = epochs(2)
print(f"rank {dist.get_rank()}: {first.tolist()}, then {second.tolist()}")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert dist.get_world_size() == 2


def everywhere(indices):
    found = [torch.empty_like(indices) for _ in range(2)]
    dist.all_gather(found, indices)
    return torch.cat(found).tolist()


for order in (first, second):
    assert len(order) == 6
    assert sorted(everywhere(order)) == list(range(12)), "the parts overlap"
# 11 samples on 2 ranks: one comes twice, or one is left out.
padded = torch.tensor(list(DistributedSampler(range(11))))
assert len(everywhere(padded)) == 12
assert len(set(everywhere(padded))) == 11
dropped = torch.tensor(list(DistributedSampler(range(11), drop_last=True)))
assert len(everywhere(dropped)) == len(set(everywhere(dropped))) == 10
assert not first.equal(second), "both epochs have the same order"
rank = dist.get_rank()
orders = [
    torch.randperm(12, generator=torch.Generator().manual_seed(e)) for e in (0, 1)
]
one, two = (order[rank::2].tolist() for order in orders)
assert shown == f"rank {rank}: {one}, then {two}", f"printed was {shown}"
dist.destroy_process_group()

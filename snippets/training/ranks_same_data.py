# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "sampler=sampler" = "shuffle=True, generator=torch.Generator().manual_seed(0)" }
# ///
"""With a sampler, two ranks read different rows in half the steps. Without one, both read all rows in the same order, with equal seeds."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

dist.init_process_group("gloo")  # a CPU is enough to see it
rank = dist.get_rank()
rows = torch.arange(64)


# --8<-- [start:enable]
sampler = DistributedSampler(rows, shuffle=True, seed=0)
loader = DataLoader(rows, batch_size=4, sampler=sampler)


def rows_of(epoch):
    sampler.set_epoch(epoch)  # without it, every epoch has the same order
    return torch.cat(list(loader))


# --8<-- [end:enable]


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def rows_of_each_rank(rows):
    """Return the rows that each rank read."""
    found = [None] * dist.get_world_size()
    dist.all_gather_object(found, rows.tolist())
    return found


first, second = rows_of_each_rank(rows_of(epoch=0))
shared = len(set(first) & set(second))
if rank == 0:
    print(
        f"{len(loader)} steps, {shared} rows on both ranks"
    )  # on: 8 steps, off: 16
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list]

# The proof: the ranks share no row, together they read all, in half the steps, and each epoch has its own order.
assert dist.get_world_size() == 2, f"{dist.get_world_size()} ranks"
assert len(loader) == 8, f"{len(loader)} steps for 64 rows, 4 at a time, on 2 ranks"
texts = ["8 steps, 0 rows on both ranks"] if rank == 0 else []
assert shown == texts, f"rank {rank} printed {shown}"
assert shared == 0, f"both ranks read {shared} rows"
assert sorted(first + second) == list(range(64)), "a row was left out"
later = rows_of_each_rank(rows_of(epoch=1))
assert later[rank] != (first, second)[rank], "both epochs have the same order"
again = torch.cat(list(loader))  # an epoch without set_epoch
assert again.tolist() == later[rank], "the order changed without set_epoch"
seeded = torch.Generator().manual_seed(0)
whole = DataLoader(rows, batch_size=4, shuffle=True, generator=seeded)
copies = rows_of_each_rank(torch.cat(list(whole)))
assert copies[0] == copies[1], "without a sampler, the ranks read different rows"
assert len(whole) == 16, f"without a sampler, {len(whole)} steps"
dist.destroy_process_group()

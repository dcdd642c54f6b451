# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# ablation = { "dist.monitored_barrier(" = "all_arrive(" }
# ///
"""A monitored barrier names the ranks that did not come. An all-reduce says only that somebody waited."""

from datetime import timedelta
from unittest.mock import patch

import torch
import torch.distributed as dist

# --8<-- [start:enable]
dist.init_process_group()
# NCCL has no monitored barrier. A second group of gloo waits on the CPU.
patience = timedelta(seconds=6)  # minutes in a real job
watch = dist.new_group(backend="gloo", timeout=patience)


def all_ranks_here(place):
    """Raise on rank 0 if ranks do not come to this place in time, and name them."""
    try:
        dist.monitored_barrier(watch, patience, wait_all_ranks=True)
    except RuntimeError as error:
        raise RuntimeError(f"{place}: {error}") from error


# --8<-- [end:enable]


def all_arrive(group, *_, **__):
    """Wait for all ranks by an all-reduce."""
    dist.all_reduce(torch.ones(()), group=group)


def errors_of(present):
    """Let some ranks reach the barrier, and return each rank's error."""
    error = ""
    try:
        if rank in present:
            all_ranks_here("before the save")
    except RuntimeError as raised:
        error = str(raised)
    texts = [""] * 4
    dist.all_gather_object(texts, error)
    return texts


rank = dist.get_rank()
assert dist.get_world_size() == 4, f"{dist.get_world_size()} ranks"
assert dist.get_backend(watch) == "gloo", dist.get_backend(watch)

# The call has the timeout of rank 0, and the group that of the others.
with patch("torch.distributed.monitored_barrier") as barrier:
    all_ranks_here("at the start")
assert all(call.args == (watch, patience) for call in barrier.call_args_list), (
    barrier.call_args
)

# The proof: no error with all ranks. Without ranks 1 and 3, rank 0 names both, and rank 2 refers to rank 0.
assert errors_of({0, 1, 2, 3}) == [""] * 4, "all ranks came, and one raised"
texts = errors_of({0, 2})
named = "before the save: [Rank 0]: Ranks 1, 3 failed to pass monitoredBarrier in 6000 ms"
assert texts[0] == named, f"rank 0: {texts[0]}"
assert "check rank 0 logs for faulty rank" in texts[2], f"rank 2: {texts[2]}"
assert texts[1] == texts[3] == "", f"the absent ranks: {texts[1]!r}, {texts[3]!r}"
if rank == 0:
    print(texts[0])
dist.destroy_process_group()

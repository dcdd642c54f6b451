# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "dist.all_reduce(failed, group=group)" = "pass" }
# ///
"""If one rank raises and ends, the other one reports only that the connection closed. If all ranks first agree on a failure, each knows which rank failed."""

import gc
from datetime import timedelta
from unittest.mock import patch

import torch
import torch.distributed as dist

dist.init_process_group("gloo")  # a CPU is enough to see the error
rank, world_size = dist.get_rank(), dist.get_world_size()


def loss_of(rows):
    if not rows:
        raise RuntimeError(f"rank {rank} has no rows")
    return torch.tensor(rows).mean()


# --8<-- [start:fault]
def step(rows, group):
    loss = loss_of(rows)  # raises on rank 1
    dist.all_reduce(loss, group=group)
    return loss.item()


# --8<-- [end:fault]


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:enable]
def step_or_skip(rows, group):
    """Skip the step on every rank if it fails on one of them."""
    failed, loss = torch.zeros(world_size), torch.zeros(())
    try:
        loss = loss_of(rows)
    except RuntimeError as error:
        print(f"skipping a step: {error}")
        failed[rank] = 1
    dist.all_reduce(failed, group=group)
    if failed.any():
        raise RuntimeError(f"failed on ranks {failed.nonzero().flatten().tolist()}")
    dist.all_reduce(loss, group=group)
    return loss.item()


# --8<-- [end:enable]


def results_of(function, rows):
    """Return each rank's loss or error. A rank that raises closes its connections, as if it had ended."""
    group = dist.new_group(backend="gloo", timeout=timedelta(seconds=8))
    dist.all_reduce(torch.ones(1), group=group)
    try:
        result = function(rows, group)
    except RuntimeError as raised:
        result = str(raised)
    if function is step and rank == 1:
        dist.destroy_process_group(group)
        del group
        gc.collect()
    results = [None] * world_size
    dist.all_gather_object(results, result)
    return results


# The proof: rank 1 has the fault, rank 0 reports the connection. With the agreement, both name the ranks that failed.
assert world_size == 2, f"{world_size} ranks"
good, bad = [1.0, 2.0], [1.0, 2.0] if rank == 0 else []
assert results_of(step_or_skip, good) == [3.0, 3.0], (
    "a step without a fault was skipped"
)
for failing in ([0], [1], [0, 1]):
    results = results_of(step_or_skip, [] if rank in failing else good)
    expected = [f"failed on ranks {failing}"] * 2
    assert results == expected, f"with the agreement: {results}"
shown = [call.args[0] for call in printed.call_args_list]
expected = [f"skipping a step: rank {rank} has no rows"] * 2
assert shown == expected, f"printed was {shown}"
first, second = results_of(step, bad)
assert second == "rank 1 has no rows", f"rank 1: {second}"
lost = ("Connection closed by peer", "Connection reset by peer")
assert any(text in first for text in lost), f"rank 0: {first}"
if rank == 0:
    print(f"rank 0: {first.rpartition('] ')[2].partition(' [')[0]}")
    print(f"rank 1: {second}")
dist.destroy_process_group()

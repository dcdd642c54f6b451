# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "    dist.all_reduce(loss, group=group)  # on every rank" = "    rank or dist.all_reduce(loss, group=group)" }
# ///
"""A collective below `if rank == 0` hangs until its timeout on rank 0. Called on every rank, it returns the mean of all ranks."""

import contextlib
import io
from datetime import timedelta

import torch
import torch.distributed as dist

dist.init_process_group("gloo")  # a CPU is enough to see the hang
rank, world_size = dist.get_rank(), dist.get_world_size()


# --8<-- [start:fault]
def log_on_one_rank(loss, group):
    if rank == 0:
        dist.all_reduce(loss, group=group)  # rank 1 never comes
        print(f"mean loss {loss.item() / world_size:.2f}")


# --8<-- [end:fault]


# --8<-- [start:enable]
def log_on_all_ranks(loss, group):
    dist.all_reduce(loss, group=group)  # on every rank
    if rank == 0:
        print(f"mean loss {loss.item() / world_size:.2f}")


# --8<-- [end:enable]


printed = []


def errors_of(log, loss):
    """Call the function on every rank with a timeout of 4 s, and return each rank's error."""
    group = dist.new_group(backend="gloo", timeout=timedelta(seconds=4))
    error, line = "", io.StringIO()
    try:
        with contextlib.redirect_stdout(line):
            log(loss, group)
    except RuntimeError as raised:
        error = str(raised)
    printed.append(line.getvalue())
    texts = [""] * world_size
    dist.all_gather_object(texts, error)
    return texts


# The proof: rank 0 waits and times out, the absent rank 1 has no error, and the cure has none at all.
assert world_size == 2, f"{world_size} ranks"
loss = torch.tensor(2.0 + 2 * rank)
texts = errors_of(log_on_all_ranks, loss)
assert texts == ["", ""], f"with the call on every rank: {texts}"
line = "mean loss 3.00\n" if rank == 0 else ""
assert printed == [line], f"rank {rank} printed {printed}"
print(line, end="")
assert loss.item() == 6, f"the sum over both ranks is {loss.item()}"
texts = errors_of(log_on_one_rank, torch.ones(()))
assert "Timed out waiting 4000ms for" in texts[0], (
    f"rank 0 ended with: {texts[0]!r}"
)
assert texts[1] == "", f"rank 1 ended with: {texts[1]!r}"
if rank == 0:
    print(f"rank 0, which called it alone: {texts[0].rpartition('] ')[2]}")
dist.destroy_process_group()

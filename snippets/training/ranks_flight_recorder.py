# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "if rank == 1:  # a branch that only rank 1 takes" = "if rank >= 0:" }
# ///
"""PyTorch records each rank's last collectives. The rank that lacks the newest one is the rank that all others wait for."""

import pickle
from datetime import timedelta

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace  # private: a reader of dumps

dist.init_process_group("gloo")  # a CPU is enough to see the hang
rank = dist.get_rank()
group = dist.new_group(backend="gloo", timeout=timedelta(seconds=4))


# --8<-- [start:fault]
def train(batches):
    for batch in batches:
        dist.all_reduce(batch, group=group)
    if rank == 1:  # a branch that only rank 1 takes
        dist.all_reduce(torch.ones(7), group=group)


# --8<-- [end:fault]


# --8<-- [start:is-it-on]
def last_collective(entries, name):
    """Return number, operation, shapes and line of a rank's last collective in a group."""
    last = [each for each in entries if each["process_group"][0] == name][-1]
    own = [frame for frame in last["frames"] if "torch" not in frame["filename"]]
    where = f"line {own[0]['line']}, {own[0]['name']}()"
    return (
        last["collective_seq_id"],
        last["profiling_name"],
        last["input_sizes"],
        where,
    )


# --8<-- [end:is-it-on]

error = ""
try:
    train([torch.ones(3) for _ in range(3)])
except RuntimeError as raised:
    error = str(raised)
dist.all_reduce(torch.ones(5))  # the newest collective is one of another group
trace = pickle.loads(_dump_fr_trace())  # noqa: S301 - this process wrote it
mine = last_collective(trace["entries"], group.group_name)
texts, found = [None] * 2, [None] * 2
dist.all_gather_object(texts, error)
dist.all_gather_object(found, mine)
if rank == 0:
    for number, entry in enumerate(found):
        print(f"rank {number}:", *entry)

# The proof: rank 1 waited and printed the error. The record shows that rank 0 never called the fourth collective.
assert dist.get_world_size() == 2, f"{dist.get_world_size()} ranks"
newest = trace["entries"][-1]
assert newest["input_sizes"] == [[5]], f"the newest is {newest}"
assert found[0][:3] == (3, "gloo:all_reduce", [[3]]), found[0]
assert found[1][:3] == (4, "gloo:all_reduce", [[7]]), found[1]
assert found[0][3] != found[1][3], "both ranks are at the same line"
assert found[1][3].endswith("train()"), found[1][3]
assert texts[0] == "", f"rank 0, which all wait for, raised: {texts[0]}"
assert "Timed out waiting 4000ms for" in texts[1], f"rank 1: {texts[1]!r}"
dist.destroy_process_group()

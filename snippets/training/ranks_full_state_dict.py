# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "cpu_offload=True" = "cpu_offload=False" }
# ///
"""Gathering a full state dict is a collective: below `if rank == 0` it hangs. Called by all ranks with CPU offload, only rank 0 gets the weights."""

import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
)
from torch.distributed.fsdp import fully_shard

# A CPU is enough to see the hang.
dist.init_process_group("gloo", timeout=timedelta(seconds=8))
rank, world_size = dist.get_rank(), dist.get_world_size()


# --8<-- [start:fault]
def save_on_one_rank(model, path):
    if rank == 0:
        torch.save(get_model_state_dict(model, options=full), path)


# --8<-- [end:fault]


# --8<-- [start:enable]
full = StateDictOptions(full_state_dict=True, cpu_offload=True)


def save(model, path):
    weights = get_model_state_dict(model, options=full)  # on every rank
    if rank == 0:
        torch.save(weights, path)
    dist.barrier()  # nobody reads the file, or ends, before it is written


# --8<-- [end:enable]


facts = dist.new_group(backend="gloo", timeout=timedelta(minutes=2))


def of_all_ranks(value):
    """Return the value of each rank, by a group that the hang does not break."""
    values = [None] * world_size
    dist.all_gather_object(values, value, group=facts)
    return values


# The proof: rank 0 writes all six tensors whole, and rank 1 holds none.
assert world_size == 2, f"{world_size} ranks"
torch.manual_seed(0)
model = torch.nn.Sequential(*(torch.nn.Linear(16, 16) for _ in range(3)))
fully_shard(model, mesh=dist.init_device_mesh("cpu", (world_size,)))
local = model[0].weight.to_local().numel()
assert local == 16 * 16 // 2, (
    f"rank {rank} has {local} elements of a sharded weight"
)
keys = of_all_ranks(len(get_model_state_dict(model, options=full)))
assert keys == [6, 0], f"tensors per rank: {keys}"
write, written = torch.save, []


def write_late(weights, path):
    time.sleep(1)  # rank 1 would be done long before
    written.append(path)
    write(weights, path)


torch.save = write_late
save(model, "model.pt")
torch.save = write
assert Path("model.pt").exists(), f"rank {rank} went on before the file was written"
saved = torch.load("model.pt", map_location="cpu", weights_only=True)
assert len(saved) == 6, f"{len(saved)} tensors in the file"
writers = of_all_ranks(written)
assert writers == [["model.pt"], []], f"files per rank: {writers}"
assert torch.equal(saved["0.weight"], model[0].weight.full_tensor()), (
    "other weights"
)

# Without the other ranks, the same call times out on rank 0 and writes nothing.
error = ""
try:
    save_on_one_rank(model, "never.pt")
except RuntimeError as raised:
    error = str(raised)
errors = of_all_ranks(error)
assert "Timed out waiting 8000ms for" in errors[0], f"rank 0: {errors[0]!r}"
assert errors[1] == "", f"rank 1: {errors[1]!r}"
assert not Path("never.pt").exists(), "rank 0 wrote a file alone"
if rank == 0:
    print(f"tensors held per rank: {keys}")
dist.destroy_process_group()

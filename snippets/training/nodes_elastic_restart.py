# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2 --max-restarts 1"
# ablation = { "if not latest.exists():" = "if True:" }
# ///
"""When a rank fails, torchrun starts all ranks again from the top of the script. The script resumes at the saved step, with the weights of a run without a failure."""

import os
from pathlib import Path
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

# --8<-- [start:restart]
attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
store, rank, world_size = next(dist.rendezvous("env://"))
store = dist.PrefixStore(f"attempt {attempt}", store)
dist.init_process_group(store=store, rank=rank, world_size=world_size)
# --8<-- [end:restart]


# --8<-- [start:enable]
latest = Path("latest.pt")  # on a disk that all nodes see


def resume(model, optimizer):
    """Load the last checkpoint, and return the step to begin with."""
    if not latest.exists():
        return 0
    state = torch.load(latest, map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"] + 1


def save(step, model, optimizer):
    """Write a checkpoint that is whole, or not there."""
    if rank == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state | {"step": step}, "new.pt")
        Path("new.pt").replace(latest)
    dist.barrier()


# --8<-- [end:enable]


def train(steps, *, interrupted):
    """Train, save every second step, and return the first step and the weight."""
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    first = resume(model, optimizer) if interrupted else 0
    for step in range(first, steps):
        if interrupted:
            with Path(f"steps-{rank}.txt").open("a", encoding="utf-8") as log:
                log.write(f"{attempt}:{step} ")
        if interrupted and attempt == 0 and step == 5 and rank == 1:
            raise RuntimeError("this node fails")
        draw = torch.Generator().manual_seed(
            2 * step + rank
        )  # the step's own batch
        model(torch.randn(4, 8, generator=draw)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if interrupted and step % 2 == 1:
            save(step, model, optimizer)
    return first, model.module.weight.detach()


# The proof, on every rank: the first attempt fails in step 5, and the second one begins with step 4.
first, weight = train(8, interrupted=True)
assert world_size == 2, f"{world_size} ranks"
assert attempt == 1, f"rank {rank}: restart count {attempt}"
assert os.environ["TORCHELASTIC_MAX_RESTARTS"] == "1", os.environ
assert first == 4, f"rank {rank}: resumed at step {first}"
steps = Path(f"steps-{rank}.txt").read_text(encoding="utf-8").split()
before, after = (
    [
        each.removeprefix(f"{number}:")
        for each in steps
        if each.startswith(f"{number}:")
    ]
    for number in (0, 1)
)
assert before == ["0", "1", "2", "3", "4", "5"], f"rank {rank}: {before}"
assert after == ["4", "5", "6", "7"], f"rank {rank}: {after}"
_, expected = train(8, interrupted=False)
assert torch.equal(weight, expected), (
    "the weights differ from a run without a failure"
)


# A write that stops halfway leaves the last checkpoint as it was, and a whole one replaces it.
def stop_halfway(_state, file):
    Path(file).write_bytes(b"PK")
    raise OSError("the disk is full")


other = torch.nn.Linear(8, 1)
now = (7, other, torch.optim.AdamW(other.parameters()))
whole = latest.read_bytes()
if rank == 0:
    with patch("torch.save", stop_halfway):
        try:
            save(*now)
            raise AssertionError("the write did not stop")
        except OSError:
            assert latest.read_bytes() == whole, "half a checkpoint took its place"
dist.barrier()
save(*now)
assert latest.read_bytes() != whole, "a whole checkpoint did not take its place"
if rank == 0:
    print(f"attempt {attempt} began with step {first}")
dist.destroy_process_group()

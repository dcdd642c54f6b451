# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
# ///
"""One collective over the same tensor of 16 MiB on every rank, to count what it sends.

Each arm is one call of torch.distributed. The reduce-scatter and the all-to-all take the whole tensor as input, and the
all-gather returns it, so that a rank's input is one share of the tensor. The numbers grow with every step. A step
returns the mean of what the rank received, by a matmul with ones, and the mean over the ranks is the same for
every arm.
"""

from collections.abc import Callable

import torch
import torch.distributed as dist

ARMS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast")
RANKS = (2, 4)
NUMBERS = 1 << 22
SMALL = {"NUMBERS": 1 << 12}


def received(arm: str, whole: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
    """Return what the collective gives to this rank; a sum is divided by the ranks."""
    ranks = dist.get_world_size()
    if arm == "all-reduce":
        dist.all_reduce(whole)
        return whole / ranks
    if arm == "reduce-scatter":
        found = torch.empty_like(share)
        dist.reduce_scatter_tensor(found, whole)
        return found / ranks
    if arm == "all-gather":
        dist.all_gather_into_tensor(whole, share)
    elif arm == "all-to-all":
        given = whole.clone()
        dist.all_to_all_single(whole, given)
    else:
        dist.broadcast(whole, 0)
    return whole


def prepare(arm: str, *, ranks: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that runs the collective once."""
    torch.manual_seed(seed)
    whole = torch.rand(NUMBERS, device=device)

    def step() -> float:
        whole.mul_(1.01)
        share = whole.chunk(ranks)[dist.get_rank()].clone()
        found = received(arm, whole.clone(), share)
        return (found[None] @ torch.ones_like(found)[:, None]).item() / found.numel()

    return step


if __name__ == "__main__":
    dist.init_process_group()
    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        mean = prepare(name, ranks=dist.get_world_size(), device=where)()
        if dist.get_rank() == 0:
            print(f"{name}: mean {mean:.4f}")
    dist.destroy_process_group()

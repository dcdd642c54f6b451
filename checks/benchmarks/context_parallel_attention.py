# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
# ///
"""Forward pass of one attention layer over a sequence that is divided over the ranks, without a mask, in fp32.

The layer has GPT-2's hidden size in 16 heads, and ``kv_heads`` heads of keys and values. ``all-gather`` gathers keys
and values. ``ring`` passes them from rank to rank and merges the partial results. ``Ulysses`` exchanges the sequence
for heads with all-to-alls before and after attention; ranks must divide the heads of keys and values.
"""

from collections.abc import Callable

import torch
import torch.distributed as dist

ARMS = ("all-gather", "ring", "Ulysses")
RANKS = (2, 4)
HEADS = 16
WIDTH = 48  # of a head
TOKENS = 512
SMALL = {"TOKENS": 32, "WIDTH": 8}


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return attention's result, and the log of the sum of the exponentials of the scores; heads × tokens × width."""
    groups = query.shape[0] // key.shape[0]
    key, value = key.repeat_interleave(groups, 0), value.repeat_interleave(groups, 0)
    scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
    return scores.softmax(-1) @ value, scores.logsumexp(-1, keepdim=True)


def gathered(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Attend to the keys and values of all ranks, gathered at once."""
    both = torch.stack((key, value))
    parts = [torch.empty_like(both) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, both)
    keys, values = torch.cat(parts, dim=2)
    return attend(query, keys, values)[0]


def ring(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Attend to one rank's keys and values after another, and merge the results."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    both = torch.stack((key, value))
    result, total = attend(query, *both)
    for _ in range(ranks - 1):
        arrived = torch.empty_like(both)
        peers = (dist.P2POp(dist.isend, both, (rank + 1) % ranks), dist.P2POp(dist.irecv, arrived, (rank - 1) % ranks))
        for work in dist.batch_isend_irecv([*peers]):
            work.wait()
        both = arrived
        part, log = attend(query, *both)
        merged = torch.logaddexp(total, log)
        result, total = result * (total - merged).exp() + part * (log - merged).exp(), merged
    return result


def exchanged(tensor: torch.Tensor, *, to_heads: bool) -> torch.Tensor:
    """Exchange a part of the sequence with all heads for the whole sequence with a part of the heads, or back."""
    ranks = dist.get_world_size()
    given = torch.stack(tensor.chunk(ranks, 0 if to_heads else 1)).contiguous()
    found = torch.empty_like(given)
    dist.all_to_all_single(found, given)
    return torch.cat([*found], 1 if to_heads else 0)


def ulysses(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Attend with a part of the heads to the whole sequence."""
    parts = [exchanged(tensor, to_heads=True) for tensor in (query, key, value)]
    return exchanged(attend(*parts)[0], to_heads=False)


def prepare(arm: str, *, ranks: int, kv_heads: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that runs attention once on this rank's part, and returns the mean square of the result."""
    torch.manual_seed(seed)
    whole = [torch.randn(heads, TOKENS, WIDTH, device=device) for heads in (HEADS, kv_heads, kv_heads)]
    query, key, value = (tensor.chunk(ranks, 1)[dist.get_rank()].contiguous() for tensor in whole)
    run = {"all-gather": gathered, "ring": ring, "Ulysses": ulysses}[arm]

    def step() -> float:
        query.mul_(1.01)
        return run(query, key, value).square().mean().item()

    return step


if __name__ == "__main__":
    dist.init_process_group()
    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        result = prepare(name, ranks=dist.get_world_size(), kv_heads=8, device=where)()
        if dist.get_rank() == 0:
            print(f"{name}: mean square {result:.6f}")
    dist.destroy_process_group()

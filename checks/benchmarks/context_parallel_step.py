# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
# ///
"""Forward and backward pass of one attention layer over a divided sequence, without a mask, in fp32.

The layer has GPT-2's hidden size in 16 heads, and ``kv_heads`` heads of keys and values. ``all-gather`` gathers keys
and values, saves them for the backward pass, and returns their gradients with a reduce-scatter. ``ring`` passes keys
and values from rank to rank, in the forward pass and again in the backward pass, where their gradients make one whole
round. ``Ulysses`` exchanges the sequence for heads with all-to-alls before and after attention, and the gradients in
the same way; ranks must divide the heads of keys and values.

A step returns the sum of the root mean squares of the output and of both gradients on this rank.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

ARMS = ("all-gather", "ring", "Ulysses")
RANKS = (2, 4)
HEADS = 16
WIDTH = 48  # of a head
TOKENS = 512
SMALL = {"TOKENS": 32, "WIDTH": 8}

Tensor = torch.Tensor


def repeated(both: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
    """Return keys and values with one head for each query head."""
    key, value = both.repeat_interleave(query.shape[0] // both.shape[1], 1)
    return key, value


def scores_of(query: Tensor, key: Tensor) -> Tensor:
    """Return the scaled scores of heads × queries × keys."""
    scores: Tensor = query @ key.mT / query.shape[-1] ** 0.5
    return scores


def attend(query: Tensor, both: Tensor) -> Tensor:
    """Return attention's result; ``both`` has keys and values, heads × tokens × width each."""
    key, value = repeated(both, query)
    return scores_of(query, key).softmax(-1) @ value


class Gather(torch.autograd.Function):
    """Gather the sequence from all ranks; the backward pass adds up the gradients and returns this rank's part."""

    @staticmethod
    def forward(_: Any, both: Tensor) -> Tensor:
        """Return keys and values of all tokens."""
        parts = [torch.empty_like(both) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, both)
        return torch.cat(parts, dim=2)

    @staticmethod
    def backward(_: Any, gradient: Tensor) -> Tensor:
        """Return the sum over the ranks of the gradient of this rank's tokens."""
        parts = torch.stack(gradient.chunk(dist.get_world_size(), dim=2))
        found = torch.empty_like(parts[0])
        dist.reduce_scatter_tensor(found, parts.flatten(0, 1))
        return found


def passed_on(*tensors: Tensor) -> list[Tensor]:
    """Send tensors to the next rank, and return those of the previous one."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    arrived = [torch.empty_like(each) for each in tensors]
    peers = [dist.P2POp(dist.isend, each, (rank + 1) % ranks) for each in tensors]
    peers += [dist.P2POp(dist.irecv, each, (rank - 1) % ranks) for each in arrived]
    for work in dist.batch_isend_irecv(peers):
        work.wait()
    return arrived


class Ring(torch.autograd.Function):
    """Attention to one rank's keys and values after another."""

    @staticmethod
    def forward(context: Any, query: Tensor, both: Tensor) -> Tensor:
        """Merge the results of all blocks, and save the sums of the exponentials for the backward pass."""
        block, result, total = both, torch.zeros_like(query), None
        for hop in range(dist.get_world_size()):
            key, value = repeated(block, query)
            scores = scores_of(query, key)
            log = scores.logsumexp(-1, keepdim=True)
            part, merged = scores.softmax(-1) @ value, log if total is None else torch.logaddexp(total, log)
            kept = 0.0 if total is None else (total - merged).exp()
            result, total = result * kept + part * (log - merged).exp(), merged
            if hop < dist.get_world_size() - 1:
                (block,) = passed_on(block)
        context.save_for_backward(query, both, result, total)
        return result

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        """Pass each block and its gradient around the ring; after as many hops as ranks, the gradient is at home."""
        query, block, result, total = context.saved_tensors
        of_query, of_block = torch.zeros_like(query), torch.zeros_like(block)
        inner = (gradient * result).sum(-1, keepdim=True)
        heads = block.shape[1]
        for hop in range(dist.get_world_size()):
            key, value = repeated(block, query)
            weights = (scores_of(query, key) - total).exp()
            of_scores = weights * (gradient @ value.mT - inner) / query.shape[-1] ** 0.5
            of_query += of_scores @ key
            of_both = torch.stack((of_scores.mT @ query, weights.mT @ gradient))
            of_block = of_block + of_both.unflatten(1, (heads, -1)).sum(2)
            if hop < dist.get_world_size() - 1:
                block, of_block = passed_on(block, of_block)
            else:
                (of_block,) = passed_on(of_block)
        return of_query, of_block


class Exchange(torch.autograd.Function):
    """Exchange a part of the sequence with all heads for the whole sequence with a part of the heads, or back."""

    @staticmethod
    def forward(context: Any, tensor: Tensor, heads: int, tokens: int) -> Tensor:
        """Split the dimension ``heads`` over the ranks, and join the dimension ``tokens``."""
        context.dimensions = heads, tokens
        given = torch.stack(tensor.chunk(dist.get_world_size(), heads))
        found = torch.empty_like(given)
        dist.all_to_all_single(found, given)
        return torch.cat([*found], tokens)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """Exchange the gradient in the other direction."""
        heads, tokens = context.dimensions
        return Exchange.apply(gradient, tokens, heads), None, None


def run(arm: str, query: Tensor, both: Tensor) -> Tensor:
    """Return the result of attention for this rank's queries."""
    if arm == "all-gather":
        return attend(query, Gather.apply(both))
    if arm == "ring":
        found: Tensor = Ring.apply(query, both)
        return found
    result = attend(Exchange.apply(query, 0, 1), Exchange.apply(both, 1, 2))
    back: Tensor = Exchange.apply(result, 1, 0)
    return back


def prepare(arm: str, *, ranks: int, kv_heads: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that runs forward and backward once on this rank's part of the sequence."""
    torch.manual_seed(seed)
    whole = torch.randn(HEADS, TOKENS, WIDTH, device=device), torch.randn(2, kv_heads, TOKENS, WIDTH, device=device)
    query, both = (each.chunk(ranks, -2)[dist.get_rank()].contiguous().requires_grad_() for each in whole)

    def step() -> float:
        with torch.no_grad():
            query.mul_(1.01)
        query.grad = both.grad = None
        result = run(arm, query, both)
        (result.square().sum() / 2).backward()
        sizes = [each.square().mean().sqrt() for each in (result.detach(), query.grad, both.grad)]
        return torch.stack(sizes).sum().item()

    return step


if __name__ == "__main__":
    dist.init_process_group()
    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        found = prepare(name, ranks=dist.get_world_size(), kv_heads=8, device=where)()
        print(f"{name}, rank {dist.get_rank()}: {found:.6f}")
    dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
# ///
"""Forward and backward pass of one layer of 8 experts over several ranks, in fp32.

The experts are gated MLPs of GPT-2's hidden size and 64 intermediate features. Every rank has ``tokens`` tokens of its
own, and each token goes to two of the experts. With ``expert parallel``, a rank holds a part of the experts. One
all-to-all sends the tokens to the ranks of their experts, a second one returns the results, and the backward pass has
both again. With ``FSDP2``, the experts are one group of parameters, which a rank gathers in the forward pass and again
in the backward pass, and whose gradients it reduces.

The router is balanced: every rank sends the same number of tokens to each expert, so the ranks know all sizes. A step
returns the sum of the root mean squares of the output and of the gradients of the tokens and of this rank's experts.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

ARMS = ("expert parallel", "FSDP2")
RANKS = (2, 4)
EXPERTS = 8
TOP_K = 2
HIDDEN = 768
INTERMEDIATE = 64
SMALL = {"HIDDEN": 32, "INTERMEDIATE": 16}

Tensor = torch.Tensor


class Experts(torch.nn.Module):
    """Some experts, each a gated MLP, for as many rows per expert."""

    def __init__(self, first: int, count: int, seed: int) -> None:
        """Draw the weights of experts ``first``, ``first + 1``, … as every arm has them."""
        super().__init__()
        up, down = [], []
        for number in range(first, first + count):
            draw = torch.Generator().manual_seed(seed * EXPERTS + number)
            up.append(torch.randn(HIDDEN, 2 * INTERMEDIATE, generator=draw) / HIDDEN**0.5)
            down.append(torch.randn(INTERMEDIATE, HIDDEN, generator=draw) / INTERMEDIATE**0.5)
        self.up, self.down = torch.nn.Parameter(torch.stack(up)), torch.nn.Parameter(torch.stack(down))

    def forward(self, rows: Tensor) -> Tensor:
        """Return the results for experts × rows × features."""
        gate, up = (rows @ self.up).chunk(2, dim=-1)
        found: Tensor = (torch.nn.functional.silu(gate) * up) @ self.down
        return found


class Exchange(torch.autograd.Function):
    """Send each rank its part of the first dimension; the backward pass sends the gradients back."""

    @staticmethod
    def forward(_: Any, rows: Tensor) -> Tensor:
        """Return what each rank sent to this one."""
        given = rows.contiguous()
        found = torch.empty_like(given)
        dist.all_to_all_single(found, given)
        return found

    @staticmethod
    def backward(_: Any, gradient: Tensor) -> Tensor:
        """Return the gradients of the rows that this rank sent."""
        found: Tensor = Exchange.apply(gradient)
        return found


def exchanged(experts: Experts, rows: Tensor) -> Tensor:
    """Return the results of all experts, of which each rank has some, for experts × rows × features."""
    ranks = dist.get_world_size()
    held, count = EXPERTS // ranks, rows.shape[1]
    arrived = Exchange.apply(rows).view(ranks, held, count, HIDDEN)
    results = experts(arrived.transpose(0, 1).reshape(held, ranks * count, HIDDEN))
    back: Tensor = Exchange.apply(results.view(held, ranks, count, HIDDEN).transpose(0, 1).flatten(0, 1))
    return back


def prepare(arm: str, *, ranks: int, tokens: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that runs forward and backward once on this rank's tokens."""
    held = EXPERTS // ranks
    own = arm == "expert parallel"
    experts = Experts(dist.get_rank() * held if own else 0, held if own else EXPERTS, seed).to(device)
    if not own:
        fully_shard(experts, reshard_after_forward=True)
    torch.manual_seed(seed * RANKS[-1] + dist.get_rank())
    x = torch.randn(tokens, HIDDEN).to(device).requires_grad_()
    shares = torch.rand(tokens * TOP_K, 1).to(device)
    # The first copies of all tokens go to the first half of the experts, the second copies to the second half.
    order = torch.cat([copy * tokens + torch.randperm(tokens) for copy in range(TOP_K)]).to(device)

    def step() -> float:
        with torch.no_grad():
            x.mul_(1.01)
        x.grad = None
        experts.zero_grad(set_to_none=True)
        rows = x.repeat(TOP_K, 1)[order].view(EXPERTS, -1, HIDDEN)
        results = exchanged(experts, rows) if own else experts(rows)
        back = torch.empty_like(results).flatten(0, 1).index_copy(0, order, results.flatten(0, 1))
        out = (back * shares).unflatten(0, (TOP_K, tokens)).sum(0)
        (out.square().sum() / 2).backward()
        weights = [each.grad if own else each.grad.to_local() * ranks for each in (experts.up, experts.down)]
        sizes = [each.square().mean().sqrt() for each in (out.detach(), x.grad)]
        sizes += [each.square().mean().sqrt() / tokens for each in weights]
        return torch.stack(sizes).sum().item()

    return step


if __name__ == "__main__":
    dist.init_process_group()
    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        found = prepare(name, ranks=dist.get_world_size(), tokens=128, device=where)()
        print(f"{name}, rank {dist.get_rank()}: {found:.6f}")
    dist.destroy_process_group()

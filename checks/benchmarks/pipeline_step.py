# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
# ///
"""Forward and backward of 8 micro-batches through a pipeline, each arm with another schedule.

Run with one process per rank. The model has 8 equal MLP blocks of GPT-2's hidden size, in fp32. With GPipe and 1F1B a
rank holds consecutive blocks; interleaved 1F1B gives each rank two pieces of the model. A micro-batch has 128 tokens.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe, ScheduleInterleaved1F1B

ARMS = ("GPipe", "1F1B", "interleaved 1F1B")
RANKS = (2, 4)
BLOCKS = 8
MICRO_BATCHES = 8
TOKENS = 128
WIDTH = 768
SMALL = {"TOKENS": 4, "WIDTH": 16}


def piece(index: int, pieces: int, device: str) -> nn.Sequential:
    """Return one of the equal pieces of the model, with the weights that it has in every arm."""
    blocks = []
    for number in range(BLOCKS // pieces * index, BLOCKS // pieces * (index + 1)):
        torch.manual_seed(number)
        blocks.append(nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)))
    return nn.Sequential(*blocks).to(device)


def schedule(arm: str, ranks: int, device: str) -> tuple[Any, list[nn.Module]]:
    """Return the schedule of this rank, and the modules that it holds."""
    pieces = 2 * ranks if arm == "interleaved 1F1B" else ranks
    held = [index for index in range(pieces) if index % ranks == dist.get_rank()]
    modules = [piece(index, pieces, device) for index in held]
    stages = [
        PipelineStage(module, index, pieces, torch.device(device)) for index, module in zip(held, modules, strict=True)
    ]
    loss = nn.MSELoss()
    if arm == "interleaved 1F1B":
        return ScheduleInterleaved1F1B(stages, MICRO_BATCHES, loss_fn=loss), [*modules]
    kind = ScheduleGPipe if arm == "GPipe" else Schedule1F1B
    return kind(stages[0], MICRO_BATCHES, loss_fn=loss), [*modules]


def prepare(arm: str, *, ranks: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that takes one step, and returns the mean loss on the last rank and 0 on the others."""
    order, modules = schedule(arm, ranks, device)
    optimizer = torch.optim.SGD([p for module in modules for p in module.parameters()], lr=0.1, foreach=False)
    torch.manual_seed(seed)
    batch = torch.randn(MICRO_BATCHES * TOKENS, WIDTH, device=device)
    first, last = dist.get_rank() == 0, dist.get_rank() == ranks - 1

    def step() -> float:
        losses: list[torch.Tensor] = []
        order.step(*([batch] if first else []), target=batch if last else None, losses=losses if last else None)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return torch.stack(losses).mean().item() if losses else 0.0

    return step


if __name__ == "__main__":
    dist.init_process_group()
    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        loss = prepare(name, ranks=dist.get_world_size(), device=where)()
        if dist.get_rank() == dist.get_world_size() - 1:
            print(f"{name}: loss {loss:.4f}")
    dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 on two cores: two DDP processes with a thread each, or one process with two threads.

Both arms compute the same global batch of two sequences. With DDP, each process takes one sequence, gloo averages the
gradients, and each process updates all weights. In the other arm, the first process takes both sequences and the second
one waits for the loss, in a broadcast that uses no core.

The model has GPT-2's hidden size and heads, a sixth of its layers and vocabulary, in fp32 with dropout 0.
"""

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = ("2 processes, 1 thread each", "1 process, 2 threads")
RANKS = (2,)
SCALE = 6
SMALL = {"SCALE": 12}


def training_step(model: torch.nn.Module, batch: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Return a function that takes one training step on this batch and returns its loss."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def step() -> torch.Tensor:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    return step


def prepare(arm: str, *, ranks: int, tokens: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that takes one training step on this rank and returns its loss.

    Raises:
        ValueError: there are not as many ranks as the arm needs.
    """
    if dist.get_world_size() != ranks:
        raise ValueError(f"the arm needs {ranks} ranks, and there are {dist.get_world_size()}")
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    batch = torch.randint(vocabulary, (ranks, tokens)).to(device)
    if arm == "2 processes, 1 thread each":
        torch.set_num_threads(1)
        mine = batch[dist.get_rank()].unsqueeze(0)
        take = training_step(DistributedDataParallel(model), mine)
        return lambda: take().item()
    torch.set_num_threads(ranks)
    take = training_step(model, batch)

    def step() -> float:
        loss = take() if dist.get_rank() == 0 else torch.zeros((), device=device)
        dist.broadcast(loss, 0)
        return loss.item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    dist.init_process_group()
    for name in ARMS:
        step = prepare(name, ranks=dist.get_world_size(), tokens=256)
        step()
        start = perf_counter()
        loss = step()
        if dist.get_rank() == 0:
            print(f"{name}: {perf_counter() - start:.3f} s a step, loss {loss:.4f}")
    dist.destroy_process_group()

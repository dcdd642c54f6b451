# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 on two GPUs: DDP with and without direct copies between the GPUs, and nn.DataParallel.

The shape is that of the comparison of 2021 on two TITAN RTX: GPT-2, 4 sequences of 1,024 tokens per GPU, AdamW and
fp32 weights. ``NCCL_P2P_DISABLE=1`` turns off all direct copies of NCCL, over NVLink and over PCIe. It is set before
the first collective, when NCCL reads it. nn.DataParallel copies with CUDA's own peer access, which stays on.

With nn.DataParallel, the first rank trains on both GPUs, and the second waits for its loss on the CPU. Without GPUs,
the module runs on all sequences in the first rank, and the two arms of DDP are the same.
"""

import os
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = ("DDP", "DDP without direct copies", "nn.DataParallel")
RANKS = (2,)
SEQUENCES = 4
TOKENS = 1024
SHAPE: dict[str, Any] = {"n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257}
SMALL = {"TOKENS": 8, "SHAPE": {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 256}}


class WithLoss(nn.Module):
    """A model that returns its loss as one element, which nn.DataParallel gathers."""

    def __init__(self, model: Any) -> None:
        """Hold the model."""
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the loss of the sequences."""
        return self.model(input_ids=ids, labels=ids).loss.reshape(1)


def batch_of(rank: int, seed: int) -> torch.Tensor:
    """Return the sequences of a rank."""
    torch.manual_seed(seed * RANKS[0] + rank)
    return torch.randint(SHAPE["vocab_size"], (SEQUENCES, TOKENS))


def prepare(arm: str, *, ranks: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that takes one training step, and returns the mean loss of the sequences of this rank."""
    if dist.get_world_size() != ranks:
        raise ValueError(f"the arm needs {ranks} ranks, and there are {dist.get_world_size()}")
    if arm == "DDP without direct copies":
        os.environ["NCCL_P2P_DISABLE"] = "1"
    torch.manual_seed(seed)
    dropout = {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0}
    config = GPT2Config(**SHAPE, **dropout, n_positions=TOKENS, bos_token_id=0, eos_token_id=0, use_cache=False)
    model: nn.Module = WithLoss(GPT2LMHeadModel(config)).to(device).train()
    if arm == "nn.DataParallel":
        return data_parallel_step(model, device, seed)
    model = DistributedDataParallel(model)
    ids = batch_of(dist.get_rank(), seed).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    return lambda: trained(model, ids, optimizer)


def data_parallel_step(model: nn.Module, device: str, seed: int) -> Callable[[], float]:
    """Return the step of the first rank on all GPUs; the second rank waits for the loss on the CPU."""
    waiting = dist.new_group(backend="gloo")
    ids = torch.cat([batch_of(rank, seed) for rank in range(RANKS[0])]).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    both = nn.DataParallel(model, device_ids=[0, 1]) if device == "cuda" else model

    def step() -> float:
        loss = torch.zeros(1)
        if dist.get_rank() == 0:
            loss += trained(both, ids, optimizer)
        dist.broadcast(loss, 0, group=waiting)
        return loss.item()

    return step


def trained(model: nn.Module, ids: torch.Tensor, optimizer: torch.optim.Optimizer) -> float:
    """Take a step and return the mean loss."""
    loss = model(ids).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


if __name__ == "__main__":
    dist.init_process_group()
    where = "cuda" if torch.cuda.is_available() else "cpu"
    if where == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    for name in ARMS:  # NCCL reads NCCL_P2P_DISABLE once: start a process per arm to compare times
        loss = prepare(name, ranks=dist.get_world_size(), device=where)()
        if dist.get_rank() == 0:
            print(f"{name}: loss {loss:.4f}")
    dist.destroy_process_group()

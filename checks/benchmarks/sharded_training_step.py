# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of a Llama with data parallelism; arms hold and exchange parameters and gradients in different ways.

Run with one process per rank. The model has GPT-2's hidden size, four narrow layers and a small vocabulary, in fp32.
Every rank draws 4 sequences of its own, so all arms see the same global batch. Arms with micro-batches process the
sequences one by one. AdamW is fused and has no temporary tensors.

FSDP2 wraps each layer, then the root with the embedding, the last norm and the LM head. HSDP shards over pairs of ranks
and replicates the pairs. ``bf16 gathers`` casts the parameters to bf16 before they are gathered.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from transformers import LlamaConfig, LlamaForCausalLM

ARMS = (
    "DDP",
    "DDP, gradients as bucket views",
    "DDP, 4 micro-batches",
    "DDP, 4 micro-batches, no_sync",
    "ZeroRedundancyOptimizer",
    "FSDP2",
    "FSDP2, wrapped at the root alone",
    "FSDP2, not resharded after forward",
    "FSDP2, bf16 gathers",
    "FSDP2, 4 micro-batches",
    "FSDP2, 4 micro-batches, one reduction",
    "FSDP2, 4 micro-batches, one gather and one reduction",
    "HSDP",
)
RANKS = (2, 4)
SEQUENCES = 4
TOKENS = 32
SHAPE = {
    "hidden_size": 768,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 12,
    "num_key_value_heads": 4,
    "vocab_size": 1024,
    "tie_word_embeddings": False,
}
SMALL = {
    "TOKENS": 8,
    "SHAPE": {
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 256,
        "tie_word_embeddings": False,
    },
}


def sharded(arm: str, model: Any) -> Any:
    """Return the model with FSDP2 or HSDP applied, as the arm says."""
    options: dict[str, Any] = {}
    if arm == "HSDP":
        options["mesh"] = init_device_mesh(
            model.device.type, (dist.get_world_size() // 2, 2), mesh_dim_names=("replicate", "shard")
        )
    if "bf16 gathers" in arm:
        options["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    if "not resharded" in arm or "one gather" in arm:
        options["reshard_after_forward"] = False
    if "root alone" not in arm:
        for layer in model.model.layers:
            fully_shard(layer, **options)
    return fully_shard(model, **options)


def wrapped(arm: str, model: Any) -> Any:
    """Return the model as the arm distributes it."""
    if arm.startswith(("FSDP2", "HSDP")):
        return sharded(arm, model)
    return DistributedDataParallel(model, gradient_as_bucket_view="bucket views" in arm)


def optimizer_of(arm: str, model: Any) -> torch.optim.Optimizer:
    """Return AdamW; in one arm, each rank updates a share of the parameters."""
    if arm == "ZeroRedundancyOptimizer":
        return ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-5, fused=True)
    return torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)


def synchronising(arm: str, model: Any, *, last: bool) -> Any:
    """Return the context of a micro-batch, after setting what the arm exchanges in it."""
    if "one reduction" in arm:
        model.set_requires_gradient_sync(last)
    if "one gather" in arm:
        model.set_reshard_after_backward(last)
    return model.no_sync() if "no_sync" in arm and not last else nullcontext()


def prepare(arm: str, *, ranks: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that takes one training step on this rank, and returns the mean loss of its sequences."""
    if dist.get_world_size() != ranks:
        raise ValueError(f"the arm needs {ranks} ranks, and there are {dist.get_world_size()}")
    torch.manual_seed(seed)
    config = LlamaConfig(**SHAPE, max_position_embeddings=TOKENS, use_cache=False)
    model = wrapped(arm, LlamaForCausalLM(config).to(device).train())
    optimizer = optimizer_of(arm, model)
    torch.manual_seed(seed * RANKS[-1] + dist.get_rank())
    batch = torch.randint(config.vocab_size, (SEQUENCES, TOKENS)).to(device)
    parts = batch.chunk(SEQUENCES) if "micro-batches" in arm else (batch,)

    def step() -> float:
        total = 0.0
        for index, part in enumerate(parts):
            with synchronising(arm, model, last=index == len(parts) - 1):
                loss = model(input_ids=part, labels=part).loss / len(parts)
                loss.backward()
            total += loss.item()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return total

    return step


if __name__ == "__main__":
    dist.init_process_group()
    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        loss = prepare(name, ranks=dist.get_world_size(), device=where)()
        if dist.get_rank() == 0:
            print(f"{name}: loss {loss:.4f}")
    dist.destroy_process_group()

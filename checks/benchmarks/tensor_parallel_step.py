# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of a Llama with tensor parallelism, each arm with another plan.

Run with one process per rank; all ranks have the same sequences. The model has GPT-2's hidden size and four layers, in
fp32. ``separate inputs`` shards the projections one by one, so each of q, k, v, gate and up all-reduces the gradient of
its input. ``prepared inputs`` shards the same, and marks the input of attention and of the MLP as replicated once.
`XX
"""

import tempfile
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM
from transformers.distributed import DistributedConfig

ARMS = ("separate inputs", "prepared inputs", "sequence parallel", "transformers plan")
RANKS = (2, 4)
SEQUENCES = 2
TOKENS = 128
SHAPE = {
    "hidden_size": 768,
    "intermediate_size": 1024,
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
        "num_hidden_layers": 2,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "vocab_size": 256,
        "tie_word_embeddings": False,
    },
}
COLUMNS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj")
ROWS = ("self_attn.o_proj", "mlp.down_proj")


def plan(arm: str) -> dict[str, Any]:
    """Return what each module of a layer does with its weights, inputs and outputs."""
    columns = {name: ColwiseParallel() for name in COLUMNS}
    if arm == "separate inputs":
        return columns | {name: RowwiseParallel() for name in ROWS}
    here = Shard(1) if arm == "sequence parallel" else Replicate()
    inputs: dict[str, Any] = {
        "self_attn": PrepareModuleInput(
            input_kwarg_layouts={"hidden_states": here}, desired_input_kwarg_layouts={"hidden_states": Replicate()}
        ),
        "mlp": PrepareModuleInput(input_layouts=(here,), desired_input_layouts=(Replicate(),)),
    }
    if arm == "prepared inputs":
        return columns | inputs | {name: RowwiseParallel() for name in ROWS}
    norms = {name: SequenceParallel() for name in ("input_layernorm", "post_attention_layernorm")}
    return columns | inputs | norms | {name: RowwiseParallel(output_layouts=Shard(1)) for name in ROWS}


OUTER = {
    "model.embed_tokens": RowwiseParallel(input_layouts=Replicate()),
    "model.layers.0": PrepareModuleInput(
        input_layouts=(Replicate(),), desired_input_layouts=(Shard(1),), use_local_output=True
    ),
    "model.norm": SequenceParallel(),
    "lm_head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
}


def loaded(model: Any, ranks: int) -> Any:
    """Return the model as transformers distributes it when it loads; rank 0 writes the file."""
    with tempfile.TemporaryDirectory() as mine:
        names = [mine]
        dist.broadcast_object_list(names, 0)
        if dist.get_rank() == 0:
            model.save_pretrained(mine)
        dist.barrier()
        config = DistributedConfig(tp_size=ranks)
        found = AutoModelForCausalLM.from_pretrained(names[0], dtype=torch.float32, distributed_config=config)
        dist.barrier()  # nobody reads the folder any more
    return found


def parallel(arm: str, model: Any, ranks: int, device: str) -> Any:
    """Return the model with the arm's plan applied to each layer."""
    if arm == "transformers plan":
        return loaded(model, ranks)
    mesh = init_device_mesh(device, (ranks,))
    for layer in model.model.layers:
        parallelize_module(layer, mesh, plan(arm))
    return parallelize_module(model, mesh, OUTER) if arm == "sequence parallel" else model


def prepare(arm: str, *, ranks: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that runs forward and backward once on this rank, and returns the loss."""
    torch.manual_seed(seed)
    config = LlamaConfig(**SHAPE, max_position_embeddings=TOKENS, use_cache=False)
    model = parallel(arm, LlamaForCausalLM(config), ranks, device).to(device).train()
    batch = torch.randint(config.vocab_size, (SEQUENCES, TOKENS)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, foreach=False)

    def step() -> float:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


if __name__ == "__main__":
    dist.init_process_group()
    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        loss = prepare(name, ranks=dist.get_world_size(), device=where)()
        if dist.get_rank() == 0:
            print(f"{name}: loss {loss:.4f}")
    dist.destroy_process_group()

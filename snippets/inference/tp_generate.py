# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# launch = "torchrun --nproc-per-node 2"
# timeout = 120
# ablation = { "DistributedConfig(tp_size=2)" = "DistributedConfig(tp_size=1)" }
# ///
"""Tensor-parallel generation: each rank holds half of each layer's heads and half of the KV cache, and all ranks get the same tokens."""

import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.debug import CommDebugMode
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.distributed import DistributedConfig

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
inputs = tokenizer(["Two GPUs, one answer:"] * 3, return_tensors="pt")

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.float32,
    distributed_config=DistributedConfig(tp_size=2),
)
output = model.generate(
    **inputs.to(model.device),
    max_new_tokens=8,
    do_sample=False,
    return_dict_in_generate=True,
)
# --8<-- [end:enable]

rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
query = model.model.layers[0].self_attn.q_proj.weight
local = query.to_local() if isinstance(query, DTensor) else query
cache = output.past_key_values.layers[0].keys
if rank == 0:
    print(f"q_proj on this rank: {tuple(local.shape)} of {tuple(query.shape)}")
    print(f"key-value heads in this rank's cache: {cache.shape[1]}")
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list]

assert ranks == 2
assert dist.is_initialized(), "each process has a whole model"
assert local.shape[0] == query.shape[0] // 2, (local.shape, query.shape)
assert cache.shape[1] == model.config.num_key_value_heads // 2, cache.shape

# A forward pass reduces twice per layer and once for the embedding, and gathers the logits.
with torch.no_grad(), CommDebugMode() as counter:
    model(**inputs)
counts = {str(k).split(".")[-1]: n for k, n in counter.get_comm_counts().items()}
if rank == 0:
    print(counts)
layers = model.config.num_hidden_layers
reduces = sum(n for name, n in counts.items() if "reduce" in name)
assert reduces == 2 * layers + 1, counts  # two per layer, and the embedding's
assert sum(counts.values()) == reduces + 1, counts  # the logits are gathered

# The same tokens on both ranks, and as one process gives.
every = [torch.empty_like(output.sequences) for _ in range(ranks)]
dist.all_gather(every, output.sequences)
assert torch.equal(every[0], every[1])
alone = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
usual = alone.generate(**inputs, max_new_tokens=8, do_sample=False)
assert torch.equal(usual, output.sequences)
rows, columns = alone.model.layers[0].self_attn.q_proj.weight.shape
assert rank or shown == [
    f"q_proj on this rank: {(rows // 2, columns)} of {(rows, columns)}",
    f"key-value heads in this rank's cache: {alone.config.num_key_value_heads // 2}",
], f"printed was {shown}"
dist.destroy_process_group()

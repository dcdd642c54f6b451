# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "batch = 8" = "batch = 1" }
# ///
"""A decode step reads all weights once, for one sequence or for eight: bytes per generated token fall with the batch, until the KV cache is larger than the weights."""

from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.bfloat16
)

printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:formula]
def bytes_per_token(model, batch: int, context: int) -> float:
    """Return the bytes that a decode step reads per generated token: weights and KV cache."""
    config = model.config
    # The embedding is a lookup of one row per token. With tied weights, the LM head reads it whole.
    weights = sum(p.nbytes for p in model.parameters())
    if not config.tie_word_embeddings:
        weights -= model.get_input_embeddings().weight.nbytes
    cache = 2 * config.num_hidden_layers * config.num_key_value_heads
    cache *= config.head_dim * context * 2
    return weights / batch + cache


batch = 8
alone, together = (bytes_per_token(model, n, context=512) for n in (1, batch))
print(f"{alone / together:.1f} times fewer bytes per token with {batch} sequences")
# --8<-- [end:formula]
shown = printed.call_args.args[0]

# The proof: the weights that a forward pass reads are the same for one and for eight sequences.
reads = []
for module in model.modules():
    if isinstance(module, torch.nn.Linear):
        module.register_forward_hook(lambda m, *_: reads.append(m.weight.nbytes))
for rows in (1, 8):
    reads.clear()
    with torch.no_grad():
        model(torch.zeros(rows, 1, dtype=torch.long))
    linear = sum(reads)
    norms = sum(p.nbytes for p in model.parameters() if p.dim() == 1)
    embedding = model.get_input_embeddings().weight.nbytes
    tied = model.config.tie_word_embeddings
    assert linear + norms == sum(p.nbytes for p in model.parameters()) - (
        0 if tied else embedding
    )

# The cache after 512 tokens, which each sequence reads for itself.
with torch.no_grad():
    layers = model(torch.zeros(1, 512, dtype=torch.long)).past_key_values.layers
cache = sum(layer.keys.nbytes + layer.values.nbytes for layer in layers)
assert bytes_per_token(model, 1, context=512) == linear + norms + cache
assert bytes_per_token(model, 8, context=512) == (linear + norms) / 8 + cache
times = 8 * (linear + norms + cache) / (linear + norms + 8 * cache)
assert alone / together == times, (alone / together, times)
end = "times fewer bytes per token with 8 sequences"
assert shown == f"{times:.1f} {end}", f"printed was {shown}"
assert 2 < alone / together < 8, alone / together

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { "min(counts.values())" = "max(counts.values())" }
# ///
"""vLLM's bytes per token are those of the real cache, and its groups of full and sliding layers give the tokens that it logs for Gemma 3 1B."""

from collections import Counter
from unittest.mock import patch

import torch
from transformers import (
    AutoModelForCausalLM,
    DeepseekV3Config,
    Gemma3TextConfig,
    LlamaConfig,
    Qwen3Config,
)

small = {"intermediate_size": 64, "vocab_size": 64}
GEMMA_1B = Gemma3TextConfig(
    hidden_size=1152,
    num_hidden_layers=26,
    num_attention_heads=4,
    num_key_value_heads=1,
    head_dim=256,
    sliding_window=512,
    **small,
)
CONFIGS = {
    "Gemma 3 1B": GEMMA_1B,
    "Llama 3.1 8B": LlamaConfig(
        hidden_size=4096,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=8,
        **small,
    ),
    "Qwen3 4B": Qwen3Config(
        hidden_size=2560,
        num_hidden_layers=36,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        **small,
    ),
    "DeepSeek-V3": DeepseekV3Config(
        hidden_size=7168,
        num_hidden_layers=61,
        num_attention_heads=128,
        kv_lora_rank=512,
        qk_rope_head_dim=64,
        first_k_dense_replace=61,
        **small,
    ),
}


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:numbers]
def numbers_per_token(config) -> int:
    """Return the numbers that one layer caches per token."""
    if hasattr(config, "kv_lora_rank"):  # latent attention: one vector for both
        return config.kv_lora_rank + config.qk_rope_head_dim
    head_dim = getattr(config, "head_dim", None)
    head_dim = head_dim or config.hidden_size // config.num_attention_heads
    return 2 * config.num_key_value_heads * head_dim


# --8<-- [end:numbers]


# --8<-- [start:groups]
def groups_of(layer_types: list[str]) -> tuple[int, int]:
    """Return the layers of a group and the groups; vLLM pads the last one."""
    counts = Counter(layer_types)
    size = min(counts.values())
    if max(counts.values()) < 1.5 * size:
        size = max(counts.values())
    return size, sum(-(-count // size) for count in counts.values())


size, groups = groups_of(GEMMA_1B.layer_types)
block_bytes = 16 * size * 2 * numbers_per_token(GEMMA_1B)
blocks = int(1.40 * 2**30) // block_bytes  # Available KV cache memory: 1.40 GiB
print(f"{groups} groups of {size} layers, {blocks // groups * 16:,} tokens")
# --8<-- [end:groups]

# The proof: the real cache of each model on the meta device has as many numbers per token in each layer.
for name, config in CONFIGS.items():
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
        ids = torch.zeros(1, 100, dtype=torch.long)
        output = model(input_ids=ids, use_cache=True)
    # newer versions of transformers name the field `cache`
    cache = output["cache" if "cache" in output else "past_key_values"]
    for layer in cache.layers:
        real = layer.keys.numel() + layer.values.numel()
        assert real == 100 * numbers_per_token(config), (name, real)
    assert len(cache.layers) == config.num_hidden_layers

# What vLLM logged: 52,608 tokens from a rounded 1.40 GiB, with 2 layers of padding.
assert GEMMA_1B.layer_types.count("full_attention") == 4
assert (size, groups) == (4, 7)
assert size * groups - 26 == 2
low, high = (
    int(gib * 2**30) // block_bytes // groups * 16 for gib in (1.395, 1.405)
)
assert low <= 52_608 <= high, (low, high)
tokens = int(1.40 * 2**30) // (16 * 4 * 1024) // 7 * 16  # 1,024 bytes: two of 256
assert printed.call_args.args == (f"7 groups of 4 layers, {tokens:,} tokens",)
assert low <= tokens <= high, tokens
# vLLM takes the larger number of layers for a group up to 1.5 times the smaller one:
# 12 and 13 layers are 2 groups of 13, and 20 and 30 layers are 3 groups of 20.
for sliding, full, expected in (
    (12, 13, (13, 2)),
    (20, 30, (20, 3)),
    (10, 18, (10, 3)),
    (52, 10, (10, 7)),
):
    found = groups_of(["sliding"] * sliding + ["full"] * full)
    assert found == expected, (sliding, full, found)
# A full request holds all blocks of the full layers, and a window and a batch of 2,048 tokens in each other group.
window = -(-(512 - 1 + 2048) // 16) + 1
needed = 32_768 // 16 + (groups - 1) * window
assert f"{52_608 // 16 * groups / needed:.2f}" == "7.64"

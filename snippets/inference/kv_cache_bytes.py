# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { "config.num_key_value_heads" = "config.num_attention_heads" }
# ///
"""Bytes of the KV cache per token from a model's configuration: the same as those of the real cache, at full size and without allocating it."""

from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen3Config

LLAMA_8B = LlamaConfig(  # Llama 3.1 8B
    hidden_size=4096,
    intermediate_size=14336,
    num_hidden_layers=32,
    num_attention_heads=32,
    num_key_value_heads=8,
    vocab_size=128256,
)
QWEN_4B = (
    Qwen3Config(  # Qwen3 4B: 32 heads of 128, although its hidden size is 2,560
        hidden_size=2560,
        intermediate_size=9728,
        num_hidden_layers=36,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        vocab_size=151936,
    )
)


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:formula]
def kv_bytes(config, tokens: int, batch: int = 1, bytes_per_number: int = 2) -> int:
    """Return the bytes of a full-attention KV cache: keys and values of each layer."""
    head_dim = getattr(config, "head_dim", None)
    head_dim = head_dim or config.hidden_size // config.num_attention_heads
    per_token = 2 * config.num_hidden_layers * config.num_key_value_heads * head_dim
    return per_token * batch * tokens * bytes_per_number


for name, config in {"Llama 3.1 8B": LLAMA_8B, "Qwen3 4B": QWEN_4B}.items():
    per_token, long = kv_bytes(config, 1), kv_bytes(config, 131_072)
    print(
        f"{name}: {per_token:,} bytes per token, {long / 2**30:.1f} GiB for 131,072"
    )
# --8<-- [end:formula]

# 2 x 32 layers x 8 heads x 128 numbers of 2 bytes, and 36 layers in Qwen3 4B.
assert [call.args[0] for call in printed.call_args_list] == [
    "Llama 3.1 8B: 131,072 bytes per token, 16.0 GiB for 131,072",
    "Qwen3 4B: 147,456 bytes per token, 18.0 GiB for 131,072",
]

# The proof: keys and values of a forward pass on the meta device, where no memory is allocated.
for config in (LLAMA_8B, QWEN_4B):
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
        ids = torch.zeros(2, 1000, dtype=torch.long)
        cache = model(
            input_ids=ids, use_cache=True, logits_to_keep=1
        ).past_key_values
    real = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    assert kv_bytes(config, 1000, batch=2) == real, (
        kv_bytes(config, 1000, 2),
        real,
    )

# The hidden size divided by the heads is not the head's size in Qwen3.
assert QWEN_4B.hidden_size // QWEN_4B.num_attention_heads != QWEN_4B.head_dim

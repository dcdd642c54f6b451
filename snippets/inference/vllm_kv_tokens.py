# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { "config.num_key_value_heads // gpus" = "config.num_attention_heads // gpus" }
# ///
"""The tokens, the concurrency and the longest request that vLLM logs follow from its memory for the KV cache, as in four published logs."""

from unittest.mock import patch

from transformers import Qwen2Config, Qwen3Config

QWEN_14B = Qwen2Config(  # Qwen2.5 14B
    hidden_size=5120,
    num_hidden_layers=48,
    num_attention_heads=40,
    num_key_value_heads=8,
)
QWEN_7B = Qwen2Config(  # Qwen2 7B
    hidden_size=3584,
    num_hidden_layers=28,
    num_attention_heads=28,
    num_key_value_heads=4,
)
QWEN_8B = Qwen3Config(  # Qwen3 8B
    hidden_size=4096,
    num_hidden_layers=36,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=128,
)


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:formula]
def token_bytes(config, gpus: int = 1, bytes_per_number: int = 2) -> int:
    """Return the bytes of KV cache per token on one GPU."""
    head_dim = getattr(config, "head_dim", None)
    head_dim = head_dim or config.hidden_size // config.num_attention_heads
    heads = max(1, config.num_key_value_heads // gpus)  # never less than one
    return 2 * config.num_hidden_layers * heads * head_dim * bytes_per_number


def kv_tokens(available: int, per_token: int, block: int = 16) -> int:
    """Return the tokens that vLLM reports: whole blocks of 16."""
    return available // (per_token * block) * block


GIB = 2**30
per_token = token_bytes(QWEN_14B)
tokens = kv_tokens(int(9.1 * GIB), per_token)  # Available KV cache memory
print(f"GPU KV cache size: {tokens:,} tokens")
print(f"Maximum concurrency for 4,096 tokens per request: {tokens / 4096:.2f}x")
print(f"one request of 16,384 tokens needs {16384 * per_token / GIB:.1f} GiB")
# --8<-- [end:formula]

# The proof: what vLLM 0.19.1 logged for Qwen2.5 14B AWQ on an A10G.
assert tokens == 49_696
assert f"{tokens / 4096:.2f}" == "12.13"
assert [call.args[0] for call in printed.call_args_list] == [
    "GPU KV cache size: 49,696 tokens",
    "Maximum concurrency for 4,096 tokens per request: 12.13x",
    "one request of 16,384 tokens needs 3.0 GiB",
]
# With half of the budget it refused 16,384 tokens, and named the longest request.
assert 16384 * per_token == 3.0 * GIB
assert kv_tokens(int(0.18 * GIB), per_token) == 976
# With fixed bytes there is no rounding: Qwen3 8B with 5,713,920,000.
assert kv_tokens(5_713_920_000, token_bytes(QWEN_8B)) == 38_736


# Two GPUs hold half of the heads each. The log rounds 11.15 GiB.
def nearest(gib: float) -> int:
    return kv_tokens(int(gib * GIB), token_bytes(QWEN_7B, gpus=2))


assert nearest(11.145) <= 417_520 <= nearest(11.155)
# With more GPUs than key-value heads, each GPU holds one whole head.
assert token_bytes(QWEN_7B, gpus=4) == token_bytes(QWEN_7B, gpus=8)

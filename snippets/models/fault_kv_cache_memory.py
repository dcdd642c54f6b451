# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { 'min(wanted, free // per_token)' = 'wanted' }
# ///
"""A KV cache that does not fit ends with the allocator's error. Its bytes per token are known before: take as many tokens as fit."""

import resource
from pathlib import Path

import torch
from transformers import LlamaConfig, StaticCache

config = LlamaConfig(  # the sizes of Llama 3.1 8B
    num_hidden_layers=32, num_key_value_heads=8, head_dim=128
)
wanted, free = 8192, 256 * 2**20
torch.zeros(2**20)  # loads what the allocator needs
used = int(Path("/proc/self/statm").read_text().split()[0]) * 4096
_, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (used + free + 2**26, hard))


def cache_of(tokens):
    """Return the bytes of a cache, or the error."""
    cache = StaticCache(config=config, max_cache_len=tokens)
    try:
        cache.early_initialization(1, 8, 128, torch.bfloat16, torch.device("cpu"))
    except RuntimeError as error:
        return str(error)
    return sum(each.keys.nbytes + each.values.nbytes for each in cache.layers)


message = cache_of(wanted)
print(message)
assert (
    "DefaultCPUAllocator: can't allocate memory: you tried to allocate" in message
)

# --8<-- [start:cure]
layers, heads = config.num_hidden_layers, config.num_key_value_heads
per_token = 2 * layers * heads * config.head_dim * 2  # keys and values, 2 bytes
tokens = min(wanted, free // per_token)
# --8<-- [end:cure]
found = cache_of(tokens)
print(f"{per_token:,} bytes per token: {tokens:,} tokens in {free / 2**20:.0f} MiB")
assert not isinstance(found, str), found
assert found == tokens * per_token == free, found
assert tokens < wanted

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { "    sliding_window=64,\n" = "" }
# ///
"""With a sliding window, the cache of a layer stops growing at the window. A prompt's cache is a view, so its memory is that of the whole prompt until the next token."""

from unittest.mock import patch

import torch
from transformers import MistralConfig, MistralForCausalLM

torch.manual_seed(0)
# --8<-- [start:enable]
config = (
    MistralConfig(  # Mistral 7B v0.1 and Gemma bring such a configuration with them
        sliding_window=64,
        vocab_size=512,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
)
# --8<-- [end:enable]
model = MistralForCausalLM(config).eval()

printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def held(cache) -> int:
    """Return the bytes of the memory behind the cache: a view holds all of its tensor."""
    tensors = [
        each for layer in cache.layers for each in (layer.keys, layer.values)
    ]
    return sum(each.untyped_storage().nbytes() for each in tensors)


for tokens in (32, 63, 64, 256):
    with torch.no_grad():
        cache = model(torch.zeros(1, tokens, dtype=torch.long)).past_key_values
        prompt = held(cache)
        model(torch.zeros(1, 1, dtype=torch.long), past_key_values=cache)
    print(
        f"{tokens} tokens: {prompt:,} bytes; after one more {held(cache):,} bytes"
    )
    # --8<-- [end:is-it-on]
    kept = min(tokens + 1, 63)
    assert cache.layers[0].keys.shape[2] == kept, cache.layers[0].keys.shape
    assert not cache.layers[0].keys.requires_grad, "the pass saved activations"
    each = 2 * 2 * 2 * 32 * 4  # layers, keys and values, heads, numbers, bytes
    assert prompt == each * tokens, "the prompt's cache is a copy"
    assert held(cache) == each * min(tokens + 1, 64), held(cache)
    assert cache.get_seq_length() == tokens + 1
    line = (
        f"{tokens} tokens: {prompt:,} bytes; after one more {held(cache):,} bytes"
    )
    assert printed.call_args.args == (line,), printed.call_args
assert printed.call_count == 4, "fewer lengths"

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { "    sliding_window=64,\n" = "" }
# ///
"""With a sliding window, the cache of a layer stops growing at one token less than the window."""

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
for tokens in (32, 63, 64, 256):
    with torch.no_grad():
        cache = model(torch.zeros(1, tokens, dtype=torch.long)).past_key_values
    held = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    print(
        f"{tokens} tokens: {held:,} bytes, {cache.layers[0].keys.shape[2]} tokens"
    )
    # --8<-- [end:is-it-on]
    assert cache.layers[0].keys.shape[2] == min(tokens, 63), cache.layers[
        0
    ].keys.shape
    assert not cache.layers[0].keys.requires_grad, "the pass saved activations"
    assert held == 2 * 2 * 2 * 32 * 4 * min(tokens, 63)
    assert cache.get_seq_length() == tokens
    line = f"{tokens} tokens: {held:,} bytes, {min(tokens, 63)} tokens"
    assert printed.call_args.args == (line,), printed.call_args
assert printed.call_count == 4, "fewer lengths"

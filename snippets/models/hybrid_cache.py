# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { 'kind == "full_attention"' = 'kind != ""' }
# ///
"""Cache of a hybrid model: only the full-attention layers grow with the length, and each linear-attention layer has a state of constant size. The same bytes as in the real cache, at full size and without allocating it."""

from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, Qwen3NextConfig

# The defaults are the sizes of Qwen3-Next 80B A3B. Dense layers have the same cache as experts.
config = Qwen3NextConfig(mlp_only_layers=list(range(48)))


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:formula]
def cache_bytes(config, tokens: int) -> tuple[int, int]:
    """Return the bytes for one sequence: the KV cache, and the states that do not grow."""
    attention = sum(kind == "full_attention" for kind in config.layer_types)
    linear = len(config.layer_types) - attention
    keys_and_values = 2 * config.num_key_value_heads * config.head_dim * 2  # bf16
    keys = config.linear_num_key_heads * config.linear_key_head_dim
    values = config.linear_num_value_heads * config.linear_value_head_dim
    recurrent = values * config.linear_key_head_dim * 4  # fp32
    convolution = (2 * keys + values) * config.linear_conv_kernel_dim * 2
    return attention * keys_and_values * tokens, linear * (recurrent + convolution)


for tokens in (2_048, 32_768, 262_144):
    growing, constant = cache_bytes(config, tokens)
    print(
        f"{tokens:,} tokens: {growing / 2**20:,.0f} MiB of keys and values, "
        f"{constant / 2**20:.0f} MiB of states"
    )
# --8<-- [end:formula]


shown = [call.args[0] for call in printed.call_args_list]
assert shown == [
    f"{tokens:,} tokens: {size} MiB of keys and values, 74 MiB of states"
    for tokens, size in ((2048, "48"), (32_768, "768"), (262_144, "6,144"))
], shown


# The proof: the cache of a forward pass on the meta device, where no memory is allocated.
def real(tokens: int) -> tuple[int, int]:
    ids = torch.zeros(1, tokens, dtype=torch.long, device="meta")
    layers = model(ids, use_cache=True, logits_to_keep=1).past_key_values.layers
    growing = constant = 0
    for layer in layers:
        if hasattr(layer, "recurrent_states"):
            states = (*layer.recurrent_states.values(), *layer.conv_states.values())
            constant += sum(state.nbytes for state in states)
        else:
            growing += layer.keys.nbytes + layer.values.nbytes
    return growing, constant


with torch.device("meta"):
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
found = {tokens: real(tokens) for tokens in (64, 640)}
assert found[640][0] == 10 * found[64][0] > 0, "the attention layers do not grow"
assert found[640][1] == found[64][1] > 0, "the states grow"
for tokens, each in found.items():
    assert cache_bytes(config, tokens) == each, (cache_bytes(config, tokens), each)

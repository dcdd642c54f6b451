# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { 'cache.crop(length - cache.get_seq_length())' = 'pass' }
# ///
"""transformers 5 caches have no index, and crop() takes the tokens to remove as a negative number. layers[i].keys, and a difference of lengths, work."""

import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

config = LlamaConfig(
    num_hidden_layers=2,
    num_key_value_heads=4,
    head_dim=8,
    hidden_size=32,
    vocab_size=8,
)
cache = DynamicCache(config=config)
for layer in range(2):
    keys = torch.randn(1, 4, 10, 8)  # 10 tokens
    cache.update(keys, torch.randn(1, 4, 10, 8), layer)
length = 7

try:
    cache[0][0]
except TypeError as error:
    print(error)
    no_index = str(error)
try:
    cache.crop(length)
except ValueError as error:
    print(error)
    no_length = str(error)
try:
    LlamaForCausalLM(config)(
        torch.tensor([[1]]), past_key_values=((keys, keys), (keys, keys))
    )
except AttributeError as error:
    print(error)
    no_tuple = str(error)
assert no_index == "'DynamicCache' object is not subscriptable", no_index
assert no_length.startswith("Calling `crop` with a positive value (`7`)"), no_length
assert no_tuple == "'tuple' object has no attribute 'get_seq_length'", no_tuple
assert cache.get_seq_length() == 10

for length in (7, 5):
    held = keys[:, :, : cache.get_seq_length()]
    # --8<-- [start:cure]
    keys_of_last_layer = cache.layers[-1].keys
    cache.crop(length - cache.get_seq_length())  # keeps the first `length` tokens
    # --8<-- [end:cure]
    assert torch.equal(keys_of_last_layer, held), "not the keys of the last layer"
    assert cache.get_seq_length() == length, cache.get_seq_length()
    assert torch.equal(cache.layers[-1].keys, keys[:, :, :length])

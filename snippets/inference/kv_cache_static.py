# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'cache_implementation="static",' = 'cache_implementation="dynamic",' }
# ///
"""A static cache writes each new token in place. A dynamic one copies all keys and values for each token."""

import torch
from torch.profiler import profile
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DynamicCache,
    StaticCache,
)

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
inputs = tokenizer("A cache " * 100, return_tensors="pt")

# --8<-- [start:enable]
output = model.generate(
    **inputs,
    max_new_tokens=16,
    do_sample=False,
    cache_implementation="static",
    max_cache_len=512,  # prompt and new tokens
    disable_compile=True,  # on a GPU, leave this out: see the page on torch.compile
    return_dict_in_generate=True,
)
# --8<-- [end:enable]
cache = output.past_key_values
print(type(cache).__name__, tuple(cache.layers[0].keys.shape))


def step(cache) -> tuple[int, bool]:
    """Return the bytes that a decode step allocates for concatenations, and whether the keys stay where they are."""
    with torch.no_grad():
        model(**inputs, past_key_values=cache, use_cache=True)
        before = cache.layers[0].keys.data_ptr()
        with profile(profile_memory=True) as trace:
            model(input_ids=inputs["input_ids"][:, -1:], past_key_values=cache)
    rows = {row.key: row for row in trace.key_averages()}
    copied = rows["aten::cat"].cpu_memory_usage if "aten::cat" in rows else 0
    return copied, before == cache.layers[0].keys.data_ptr()


tokens = inputs["input_ids"].shape[1]
for kind in (DynamicCache(config=model.config), StaticCache(model.config, 512)):
    copied, in_place = step(kind)
    print(
        f"{type(kind).__name__}: {copied:,} bytes concatenated, in place: {in_place}"
    )

# The proof: the generated cache has room for all tokens, and the step above did not copy it.
keys = cache.layers[0].keys
assert isinstance(cache, StaticCache), type(cache)
assert keys.shape[2] == 512 > tokens + 16, keys.shape
grown = 2 * 4 * model.config.num_hidden_layers * (tokens + 1)
grown *= model.config.num_key_value_heads * model.config.head_dim
dynamic = step(DynamicCache(config=model.config))
static = step(StaticCache(model.config, 512))
assert dynamic[0] >= grown, (dynamic, grown)
assert static[0] < grown / 10, (static, grown)
assert not dynamic[1], "the dynamic cache is where it was"
assert static[1], "the static cache has moved"

# Both give the same tokens.
usual = model.generate(**inputs, max_new_tokens=16, do_sample=False)
assert torch.equal(output.sequences, usual)

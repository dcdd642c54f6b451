# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "    cache_implementation=\"quantized\",\n" = "", "    cache_config={\"backend\": \"fp8\"},\n" = "" }
# ///
"""An fp8 KV cache holds one byte per number instead of two. Each step converts all of it back for the attention."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype="auto")
inputs = tokenizer("A cache " * 100, return_tensors="pt")
usual = model.generate(
    **inputs, max_new_tokens=8, do_sample=False, return_dict_in_generate=True
)
# Many checkpoints sample unless the call says otherwise.
model.generation_config.update(do_sample=True, temperature=5.0)

# --8<-- [start:enable]
output = model.generate(
    **inputs,
    max_new_tokens=8,
    do_sample=False,
    cache_implementation="quantized",
    cache_config={"backend": "fp8"},
    return_dict_in_generate=True,
)
# --8<-- [end:enable]


def held(cache) -> int:
    """Return the bytes of what a cache holds, quantized or not."""
    total = 0
    for layer in cache.layers:
        for name in ("keys", "values", "_quantized_keys", "_quantized_values"):
            found = getattr(layer, name, None)
            tensors = found if isinstance(found, tuple) else (found,)
            total += sum(t.nbytes for t in tensors if torch.is_tensor(t))
    return total


before, after = held(usual.past_key_values), held(output.past_key_values)
print(f"bf16 {before:,} bytes, fp8 {after:,} bytes: {after / before:.3f}")

# The proof: half of the bytes, and one 4-byte scale for keys and one for values per layer.
layers = output.past_key_values.layers
assert model.dtype == torch.bfloat16
assert after == before // 2 + len(layers) * 2 * 4, (before, after)
for layer in layers:
    for kept, scale in (layer._quantized_keys, layer._quantized_values):  # noqa: SLF001
        assert kept.dtype == torch.float8_e4m3fn, kept.dtype
        assert scale.numel() == 1, scale
# The call takes the most likely token each time, and draws none.
greedy = {"do_sample": False, "max_new_tokens": 8, **inputs}
greedy |= {"cache_implementation": "quantized", "cache_config": {"backend": "fp8"}}
assert model.generate(**greedy).equal(output.sequences), "tokens were drawn"

# The scale comes from the prompt and stays: a larger number than in the prompt is clipped or becomes NaN.
layer = type(layers[0])()
prompt = torch.ones(1, 1, 4, 8)
layer.update(prompt, prompt)
keys, _ = layer.update(100 * prompt[:, :, :1], prompt[:, :, :1])
assert not torch.allclose(keys[:, :, -1], torch.tensor(100.0)), keys[:, :, -1]
print(f"a key of 100 after a prompt of ones becomes {keys[0, 0, -1, 0].item()}")

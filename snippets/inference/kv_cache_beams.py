# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "num_beams=4" = "num_beams=1" }
# ///
"""Beam search and several samples per prompt multiply the KV cache: each beam and each sample is a sequence of its own, with the prompt in it."""

from unittest.mock import patch

from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint)
inputs = tokenizer("Count the bytes of the cache. " * 8, return_tensors="pt")


returned, lengths = [], []  # of each call


def cache_bytes(**settings) -> int:
    """Return the bytes of the KV cache after generate()."""
    settings |= {"max_new_tokens": 8, "min_new_tokens": 8}
    result = model.generate(**inputs, **settings, return_dict_in_generate=True)
    layers = result.past_key_values.layers
    returned.append(len(result.sequences))
    lengths.append(layers[0].keys.shape[-2])
    return sum(layer.keys.nbytes + layer.values.nbytes for layer in layers)


printed = patch("builtins.print", wraps=print).start()

# --8<-- [start:measure]
one = cache_bytes(do_sample=False)
beams = cache_bytes(do_sample=False, num_beams=4)
samples = cache_bytes(do_sample=True, num_return_sequences=4)
print(f"4 beams: {beams / one:.0f}x, 4 samples: {samples / one:.0f}x")
# --8<-- [end:measure]
assert printed.call_args.args == ("4 beams: 4x, 4 samples: 4x",)

# Beam search returns one sequence, sampling four. Each has the prompt in its cache, and all new tokens but the last.
assert returned == [1, 1, 4], returned
assert lengths == [inputs["input_ids"].shape[1] + 7] * 3, lengths
assert beams == 4 * one, (beams, one)
assert samples == 4 * one, (samples, one)

# /// script
# requires-python = ">=3.11"
# dependencies = ["tensorflow>=2.21", "tf-keras>=2.21", "transformers>=4.57,<5", "safetensors>=0.8", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "tensorflow"
# models = ["openai-community/gpt2"]
# timeout = 240
# ablation = { "model.generate, jit_compile=True" = "model.generate, jit_compile=False" }
# ///
"""tf.function with jit_compile=True compiles all of generate() with XLA at the first call, and a second call of the same shape compiles nothing."""

import os
from time import perf_counter

# Without the warning that version 5 removes the TensorFlow classes.
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import numpy as np
import tensorflow as tf
from safetensors.tensorflow import load_file
from transformers import AutoConfig, GPT2TokenizerFast, TFAutoModelForCausalLM
from transformers.modeling_tf_pytorch_utils import (
    load_pytorch_state_dict_in_tf2_model,
)
from transformers.utils import cached_file

checkpoint = "openai-community/gpt2"
model = TFAutoModelForCausalLM.from_config(AutoConfig.from_pretrained(checkpoint))
weights = load_file(cached_file(checkpoint, "model.safetensors"))
load_pytorch_state_dict_in_tf2_model(model, weights)
tokenizer = GPT2TokenizerFast.from_pretrained(checkpoint, padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
prompts = ["The licence", "This License grants each user the rights"]
# --8<-- [start:enable]
generate = tf.function(model.generate, jit_compile=True)
settings = {
    "max_new_tokens": 8,
    "do_sample": False,
    "pad_token_id": tokenizer.eos_token_id,
}

inputs = tokenizer(
    prompts, return_tensors="tf", padding=True, pad_to_multiple_of=16
)
tokens = generate(**inputs, **settings)  # traces and compiles
# --8<-- [end:enable]

first = generate.experimental_get_tracing_count()
generate(**inputs, **settings)
second = generate.experimental_get_tracing_count()
program = generate.get_concrete_function(**inputs, **settings)
compiled = program.function_def.attr["_XlaMustCompile"].b
print(
    f"traces after the first call: {first}, after the second: {second}; XLA: {compiled}"
)
assert (first, second) == (1, 1), (first, second)
assert generate.experimental_get_tracing_count() == 1
assert compiled
eager = model.generate(**inputs, **settings)
assert tokens.shape == (2, 16 + 8), tokens.shape
assert np.array_equal(tokens, eager)


def seconds(length: int) -> float:
    """The time of one call with prompts of a length."""
    batch = tokenizer(
        prompts, return_tensors="tf", padding="max_length", max_length=length
    )
    start = perf_counter()
    timed(**batch, **settings)
    return perf_counter() - start


timed = tf.function(jit_compile=True)(model.generate)
calls = {
    name: seconds(length)
    for name, length in (("first call", 16), ("again", 16), ("new length", 32))
}
print("; ".join(f"{name}: {time:.3g} s" for name, time in calls.items()))
assert timed.experimental_get_tracing_count() == 2

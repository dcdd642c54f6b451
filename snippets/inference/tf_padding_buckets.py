# /// script
# requires-python = ">=3.11"
# dependencies = ["tensorflow>=2.21", "tf-keras>=2.21", "transformers>=4.57,<5", "safetensors>=0.8"]
#
# [tool.headroom]
# environment = "tensorflow"
# models = ["openai-community/gpt2"]
# timeout = 240
# ablation = { ", pad_to_multiple_of=16" = "" }
# ///
"""Prompts that are padded to multiples of 16 share their compiled programs: five lengths make two traces in place of five."""

import os

# Without the warning that version 5 removes the TensorFlow classes.
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

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
settings = {
    "max_new_tokens": 4,
    "do_sample": False,
    "pad_token_id": tokenizer.eos_token_id,
}
generate = tf.function(model.generate, jit_compile=True)
prompts = [" of" * count for count in (3, 7, 12, 15, 20)]
lengths, found = [], []
# --8<-- [start:enable]
for prompt in prompts:
    inputs = tokenizer(
        [prompt], return_tensors="tf", padding=True, pad_to_multiple_of=16
    )
    tokens = generate(**inputs, **settings)
    # --8<-- [end:enable]
    lengths.append(inputs["input_ids"].shape[1])
    found.append(tokens[0, -4:].numpy().tolist())

traces = generate.experimental_get_tracing_count()
own = [len(tokenizer(prompt)["input_ids"]) for prompt in prompts]
print(f"lengths {own}, padded to {lengths}: {traces} traces")
assert len(set(own)) == 5, own
assert lengths == [16, 16, 16, 16, 32], lengths
assert traces == 2, traces
# The padding changes no token: those of each prompt alone, neither padded nor compiled.
alone = [
    model.generate(**tokenizer([prompt], return_tensors="tf"), **settings)
    for prompt in prompts
]
expected = [tokens[0, -4:].numpy().tolist() for tokens in alone]
assert found == expected, (found, expected)

# /// script
# requires-python = ">=3.11"
# dependencies = ["tensorflow>=2.21", "tf-keras>=2.21", "transformers>=4.57,<5", "safetensors>=0.8", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "tensorflow"
# models = ["openai-community/gpt2"]
# timeout = 240
# ablation = { "padding_side=\"left\"" = "padding_side=\"right\"" }
# ///
"""generate() continues the last position, so that prompts are padded on the left: padded prompts then have the continuations of unpadded ones."""

import os

# Without the warning that version 5 removes the TensorFlow classes.
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import numpy as np
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
prompts = ["The licence", "This License grants each user the rights"]
# --8<-- [start:enable]
tokenizer = GPT2TokenizerFast.from_pretrained(checkpoint, padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
inputs = tokenizer(
    prompts, return_tensors="tf", padding=True, pad_to_multiple_of=16
)
# --8<-- [end:enable]

settings = {
    "max_new_tokens": 8,
    "do_sample": False,
    "pad_token_id": tokenizer.eos_token_id,
}
padded = model.generate(**inputs, **settings)[:, -8:].numpy()
alone = np.concatenate(
    [
        model.generate(**tokenizer([prompt], return_tensors="tf"), **settings)[
            :, -8:
        ]
        for prompt in prompts
    ]
)
print(f"padded: {padded.tolist()}")
print(f"alone:  {alone.tolist()}")
assert inputs["input_ids"].shape == (2, 16)
assert len({tuple(row) for row in alone.tolist()}) == 2
assert np.array_equal(padded, alone)

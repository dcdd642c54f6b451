# /// script
# requires-python = ">=3.11"
# dependencies = ["tensorflow>=2.21", "tf-keras>=2.21", "transformers>=4.57,<5", "safetensors>=0.8", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "tensorflow"
# models = ["openai-community/gpt2"]
# timeout = 240
# ablation = { "load_pytorch_state_dict_in_tf2_model(model, weights)" = "model.build_in_name_scope()" }
# ///
"""transformers 4.57 cannot load safetensors of PyTorch into TensorFlow classes with from_pretrained, and can with a dict."""

import os
from pathlib import Path

# Without the warning that version 5 removes the TensorFlow classes.
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import numpy as np
from safetensors.tensorflow import load_file
from transformers import AutoConfig, TFAutoModelForCausalLM
from transformers.modeling_tf_pytorch_utils import (
    load_pytorch_state_dict_in_tf2_model,
)
from transformers.utils import cached_file

# --8<-- [start:enable]
checkpoint = "openai-community/gpt2"
model = TFAutoModelForCausalLM.from_config(AutoConfig.from_pretrained(checkpoint))
weights = load_file(cached_file(checkpoint, "model.safetensors"))
load_pytorch_state_dict_in_tf2_model(model, weights)
model.save_pretrained("gpt2-tensorflow")  # writes tf_model.h5, which loads as usual
# --8<-- [end:enable]

again = TFAutoModelForCausalLM.from_pretrained("gpt2-tensorflow")
layer = again.transformer.h[-1].attn.c_attn
last = f"transformer.h.{len(again.transformer.h) - 1}.attn.c_attn.weight"
same = np.array_equal(layer.weight, weights[last])
try:
    TFAutoModelForCausalLM.from_pretrained(checkpoint)
    refused = ""
except TypeError as error:
    refused = str(error)
print(f"the weights are those of the checkpoint: {same}")
print(f"from_pretrained says: {refused}")
assert same
files = {file.name for file in Path("gpt2-tensorflow").iterdir()}
assert "tf_model.h5" in files, files
assert np.array_equal(
    again.transformer.wte.weights[0], weights["transformer.wte.weight"]
)
assert refused == "'builtins.safe_open' object is not iterable", refused

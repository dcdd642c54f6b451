# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { '    model = LlamaForCausalLM(config)  # no memory' = '    model = LlamaForCausalLM(config).to_empty(device="cpu")  # no memory' }
# ///
"""On the meta device, a model of any size has shapes and no memory: count parameters, check shapes, plan a device map."""

from unittest.mock import patch

import torch
from transformers import LlamaConfig, LlamaForCausalLM

printed = patch("builtins.print", wraps=print).start()

# --8<-- [start:enable]
config = LlamaConfig(  # about 1.1 billion parameters
    hidden_size=2048,
    intermediate_size=5632,
    num_hidden_layers=22,
    num_attention_heads=32,
    num_key_value_heads=4,
    vocab_size=32000,
)
with torch.device("meta"):
    model = LlamaForCausalLM(config)  # no memory
parameters = sum(p.numel() for p in model.parameters())
print(f"{parameters:,} parameters, {2 * parameters / 2**30:.1f} GiB in bf16")
# --8<-- [end:enable]

line = f"{1_100_048_384:,} parameters, 2.0 GiB in bf16"
assert printed.call_args.args == (line,), printed.call_args
assert 1.0e9 < parameters < 1.2e9, parameters
assert all(p.is_meta for p in model.parameters()), "a weight has memory"
with torch.device("meta"):
    logits = model(torch.zeros(2, 7, dtype=torch.long)).logits
assert logits.shape == (2, 7, 32000)

# --8<-- [start:provoke]
try:
    model.to("cpu")
except NotImplementedError as error:
    message = str(error)
    print(message)
# --8<-- [end:provoke]
assert message.startswith("Cannot copy out of meta tensor; no data!"), message

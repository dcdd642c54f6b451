# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'attn_implementation="sdpa"' = 'attn_implementation="eager"' }
# ///
"""Which attention kernel runs in a forward pass without gradients: with SDPA a fused one, once per layer, and no softmax."""

from unittest.mock import patch

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
inputs = tokenizer("Which kernel runs? " * 20, return_tensors="pt")

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, attn_implementation="sdpa")
# --8<-- [end:enable]

gradients = []
model.register_forward_hook(lambda *_: gradients.append(torch.is_grad_enabled()))
printed = patch("builtins.print", wraps=print).start()

# --8<-- [start:is-it-on]
with torch.no_grad(), profile() as trace:
    model(**inputs)
calls = {row.key: row.count for row in trace.key_averages()}
print({name: n for name, n in calls.items() if "attention" in name})
# --8<-- [end:is-it-on]

fused = sum(
    n
    for name, n in calls.items()
    if "_scaled_dot_product_" in name and "flash" in name
)
assert fused == model.config.num_hidden_layers, calls
assert "aten::softmax" not in calls, "a softmax of its own"
assert gradients == [False], "the pass ran with gradients"
shown = printed.call_args.args[0]
assert any("flash" in name and n == fused for name, n in shown.items()), shown

# Eager attention makes a softmax per layer.
eager = AutoModelForCausalLM.from_pretrained(
    checkpoint, attn_implementation="eager"
)
with torch.no_grad(), profile() as trace:
    eager(**inputs)
calls = {row.key: row.count for row in trace.key_averages()}
assert calls["aten::softmax"] == model.config.num_hidden_layers, calls

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { 'model.eval()' = 'pass' }
# ///
"""A model in training mode applies dropout: two calls with one input differ. eval() turns it off."""

from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
inputs = tokenizer("The same text.", return_tensors="pt")
assert not model.training  # from_pretrained() returns a model in eval mode


def difference():
    """Return by how much the logits of two equal calls differ."""
    with torch.no_grad():
        first, second = model(**inputs).logits, model(**inputs).logits
    return (first - second).abs().max().item()


model.train()  # as a training loop leaves it
print(f"training mode: {difference():.1e}")
assert difference() > 1e-3, difference()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:cure]
model.eval()
print(f"eval mode: {difference():.1e}")
# --8<-- [end:cure]
shown = printed.call_args.args[0]
assert difference() == 0, difference()
assert not any(m.training for m in model.modules()), "a module trains"
assert shown == "eval mode: 0.0e+00", f"printed was {shown}"

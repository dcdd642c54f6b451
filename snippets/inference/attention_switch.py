# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'model.set_attn_implementation("eager")' = 'model.set_attn_implementation("sdpa")' }
# ///
"""Change the attention kernel of a loaded model, for example to eager for the attention weights, which SDPA leaves out without an error."""

from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
inputs = tokenizer("Which kernel runs?", return_tensors="pt")
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
layers, tokens = model.config.num_hidden_layers, inputs.input_ids.shape[1]
with torch.no_grad():
    silent = model(**inputs, output_attentions=True)
fused = [each for each in silent.attentions or () if each is not None]
print(f"SDPA: attention weights of {len(fused)} layers")
assert fused == [], fused

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:enable]
model.set_attn_implementation("eager")  # the weights stay as they are
with torch.no_grad():
    result = model(**inputs, output_attentions=True)
print(f"eager: attention weights of {len(result.attentions or ())} layers")
# --8<-- [end:enable]
shown = printed.call_args.args[0]

assert len(result.attentions or ()) == layers, result.attentions
assert shown == f"eager: attention weights of {layers} layers", shown
assert not result.logits.requires_grad, "the forward pass saved activations"
assert result.attentions[0].shape == (
    1,
    model.config.num_attention_heads,
    tokens,
    tokens,
)
sums = result.attentions[0].sum(-1)
torch.testing.assert_close(sums, torch.ones_like(sums))
torch.testing.assert_close(result.logits, silent.logits, atol=1e-4, rtol=1e-4)

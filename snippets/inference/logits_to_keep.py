# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { ", logits_to_keep=1" = "" }
# ///
"""Without logits_to_keep, a forward pass over a prompt computes logits for every token, and the last row alone is used."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
inputs = tokenizer("A long prompt " * 200, return_tensors="pt")

# --8<-- [start:enable]
with torch.no_grad():
    output = model(**inputs, logits_to_keep=1)
next_token = output.logits[:, -1].argmax(-1)
# --8<-- [end:enable]
tokens = inputs["input_ids"].shape[1]
print(f"{tokens} tokens, logits of shape {tuple(output.logits.shape)}")

assert output.logits.shape == (1, 1, model.config.vocab_size), output.logits.shape
assert not output.logits.requires_grad, "the pass saved activations"
with torch.no_grad():
    whole = model(**inputs).logits
assert whole.shape == (1, tokens, model.config.vocab_size)
torch.testing.assert_close(output.logits[:, -1], whole[:, -1])
assert whole[:, -1].argmax(-1) == next_token
assert model(**inputs).logits.requires_grad, "gradients are off everywhere"

# generate() asks for the last row by itself.
shapes = []
model.lm_head.register_forward_hook(lambda *call: shapes.append(call[2].shape[1]))
model.generate(**inputs, max_new_tokens=2, do_sample=False)
assert shapes == [1, 1], shapes

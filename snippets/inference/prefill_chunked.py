# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "prefill_chunk_size=64," = "" }
# ///
"""prefill_chunk_size computes a long prompt in parts, so activations are those of one part, and the tokens stay the same."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
inputs = tokenizer("A long prompt " * 100, return_tensors="pt")
widths = []
model.model.layers[0].mlp.register_forward_hook(
    lambda *call: widths.append(call[2].shape[1])
)
usual = model.generate(**inputs, max_new_tokens=4, do_sample=False)
whole = widths.copy()
widths.clear()

# --8<-- [start:enable]
output = model.generate(
    **inputs,
    max_new_tokens=4,
    do_sample=False,
    prefill_chunk_size=64,
)
# --8<-- [end:enable]
print(f"tokens per forward pass: {whole} in one piece, {widths} in chunks")

tokens = inputs["input_ids"].shape[1]
assert torch.equal(output, usual), "other tokens than in one piece"
assert whole == [tokens, 1, 1, 1], whole
assert sum(widths) == tokens + 3, widths
assert max(widths) == 64, widths

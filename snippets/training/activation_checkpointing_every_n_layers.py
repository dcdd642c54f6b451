# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "every_n_layers=2" = "every_n_layers=1" }
# ///
"""Checkpointing every second block pays half of the recomputation, and keeps the activations of the other half."""

from collections import Counter

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Half of the blocks are run again."] * 4, return_tensors="pt")
batch = batch.to(device)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
model.activation_checkpointing_enable(every_n_layers=2)
# --8<-- [end:enable]

runs: Counter[int] = Counter()
blocks = model.transformer.h
for number, block in enumerate(blocks):
    block.ln_1.register_forward_pre_hook(lambda *_, n=number: runs.update([n]))
model(**batch, labels=batch["input_ids"]).loss.backward()

print("runs of each block in one step:", [runs[n] for n in range(len(blocks))])
again = sum(count == 2 for count in runs.values())
assert again == len(blocks) // 2, f"{again} of {len(blocks)} blocks ran again"
assert all(torch.isfinite(p.grad).all() for p in model.parameters())

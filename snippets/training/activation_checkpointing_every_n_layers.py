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

checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Half of the blocks are run again."] * 4, return_tensors="pt")

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint).train()
model.activation_checkpointing_enable(every_n_layers=2)
# --8<-- [end:enable]

runs: Counter[int] = Counter()
for number, block in enumerate(model.transformer.h):
    block.mlp.register_forward_pre_hook(
        lambda *_, number=number: runs.update([number])
    )
model(**batch, labels=batch["input_ids"]).loss.backward()

print(
    "runs of each block in one step:",
    [runs[number] for number in range(len(model.transformer.h))],
)
again = sum(count == 2 for count in runs.values())
assert again == len(model.transformer.h) // 2, (
    f"{again} of {len(model.transformer.h)} blocks ran again"
)
assert all(torch.isfinite(p.grad).all() for p in model.parameters())

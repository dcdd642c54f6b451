# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'labels=ids).loss' = 'labels=ids.roll(-1, 1)).loss' }
# ///
"""transformers shifts the labels itself. Labels that were shifted before train the model to predict the token after the next one."""

import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
ids = tokenizer("The model shifts the labels.", return_tensors="pt")["input_ids"]

# --8<-- [start:provoke]
wrong = model(input_ids=ids[:, :-1], labels=ids[:, 1:]).loss
# --8<-- [end:provoke]

# --8<-- [start:cure]
right = model(input_ids=ids, labels=ids).loss
# --8<-- [end:cure]

logits = model(input_ids=ids).logits[0]
next_token = cross_entropy(logits[:-1], ids[0, 1:])
token_after_next = cross_entropy(logits[:-2], ids[0, 2:])
print(f"shifted twice: {wrong.item():.3f}, once: {right.item():.3f}")
assert torch.allclose(wrong, token_after_next, atol=1e-5), (wrong, token_after_next)
assert torch.allclose(right, next_token, atol=1e-5), (right, next_token)
assert not torch.allclose(wrong, right, atol=1e-3)

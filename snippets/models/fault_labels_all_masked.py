# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { '(labels != -100).any()' = 'True' }
# ///
"""A batch without a single label has a mean loss of 0 / 0, nan. With num_items_in_batch, as in the Trainer, its loss is 0. Drop such rows."""

import math

import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(
    "openai-community/gpt2", dtype=torch.float32
)
max_length = 8


def row(prompt_tokens, answer_tokens):
    """Return a row whose prompt has no labels, cut at max_length."""
    ids = torch.arange(prompt_tokens + answer_tokens)[:max_length]
    return ids, ids.masked_fill(ids < prompt_tokens, -100)


rows = [row(3, 5), row(10, 5)]  # the second prompt alone is too long


def loss(row, **settings):
    ids, labels = row
    return model(input_ids=ids[None], labels=labels[None], **settings).loss.item()


print(f"mean: {loss(rows[1])}")
print(f"as in the Trainer: {loss(rows[1], num_items_in_batch=torch.tensor(5))}")
assert math.isnan(loss(rows[1])), loss(rows[1])
assert loss(rows[1], num_items_in_batch=torch.tensor(5)) == 0

# --8<-- [start:cure]
rows = [(ids, labels) for ids, labels in rows if (labels != -100).any()]
# --8<-- [end:cure]
losses = [loss(row) for row in rows]
assert all(0 < each < 100 for each in losses), losses
assert len(rows) == 1

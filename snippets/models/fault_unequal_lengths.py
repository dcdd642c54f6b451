# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { 'collate_fn=DataCollatorWithPadding(tokenizer)' = 'collate_fn=None' }
# ///
"""The DataLoader's own collator stacks rows and raises for unequal lengths. DataCollatorWithPadding pads each batch to its longest row."""

import torch
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, DataCollatorWithPadding

tokenizer = AutoTokenizer.from_pretrained("openai-community/gpt2")
tokenizer.pad_token = tokenizer.eos_token
texts = ["Short.", "A text of more words.", "One two three four five six seven."]
rows = [
    {name: torch.tensor(ids) for name, ids in tokenizer(text).items()}
    for text in texts
]


def shapes(loader):
    """Return the shapes of all batches, or the error."""
    try:
        return [tuple(batch["input_ids"].shape) for batch in loader]
    except RuntimeError as error:
        return str(error)


loader = DataLoader(rows, batch_size=3)
print(shapes(loader))
assert shapes(loader).startswith(
    "stack expects each tensor to be equal size, but got"
)

# --8<-- [start:cure]
loader = DataLoader(
    rows, batch_size=3, collate_fn=DataCollatorWithPadding(tokenizer)
)
# --8<-- [end:cure]
longest = max(len(row["input_ids"]) for row in rows)
assert shapes(loader) == [(3, longest)], shapes(loader)
(batch,) = loader
lengths = [len(row["input_ids"]) for row in rows]
assert batch["attention_mask"].sum(dim=1).tolist() == lengths

# A tokenizer that returns tensors has the same fault, and padding=True as its fix.
try:
    tokenizer(texts, return_tensors="pt")
except ValueError as error:
    message = str(error)
assert message.startswith("Unable to create tensor, you should probably activate")
padded = tokenizer(texts, padding=True, return_tensors="pt")["input_ids"]
assert padded.shape == (3, longest)

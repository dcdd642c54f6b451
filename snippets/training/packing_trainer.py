# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# datasets = ["Salesforce/wikitext"]
# timeout = 120
# ablation = { "        \"position_ids\": positions,\n" = "" }
# ///
"""Texts packed to rows of a fixed length do not see each other if positions restart at each text. No label crosses from one text to the next."""

from itertools import accumulate

import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    Trainer,
    TrainingArguments,
)

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)
shapes = set()
hook = model.lm_head.register_forward_hook(
    lambda module, args, output: shapes.add(tuple(output.shape[:-1]))
)


# --8<-- [start:enable]
def pack(batch, length=256):
    """Rows of one length; a text that reaches over an end is cut in two."""
    ids, positions = [], []
    for text in batch["input_ids"]:
        for place, token in enumerate(text):
            first = place == 0 or len(ids) % length == 0  # of text or row
            positions.append(0 if first else positions[-1] + 1)
            ids.append(token)
    labels = [i if p else -100 for i, p in zip(ids, positions, strict=True)]
    columns = {
        "input_ids": ids,
        "position_ids": positions,
        "labels": labels,
    }
    rows = range(0, len(ids) - length + 1, length)  # the rest is dropped
    return {k: [v[i : i + length] for i in rows] for k, v in columns.items()}


packed = tokens.map(pack, batched=True, remove_columns=tokens.column_names)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=1,  # FlashAttention takes one row at a time
    num_train_epochs=1,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(model, arguments, train_dataset=packed)
# --8<-- [end:enable]

trainer.train()
hook.remove()
assert shapes == {(1, 256)}, f"the batches have the shapes {shapes}"
assert sum(map(len, packed["input_ids"])) > 0.5 * sum(
    map(len, tokens["input_ids"])
), "most tokens were dropped"

# The proof: a change in the first text of a row does not reach the second one.
row = packed[0]
assert all(r[0] == 0 for r in packed.to_dict().get("position_ids", [[0]])), (
    "a row does not begin at position 0"
)
second = len(tokens[0]["input_ids"])
assert second < 250, "the first row holds one text only"
inputs = {
    name: torch.tensor([row[name]], device=model.device)
    for name in ("input_ids", "position_ids")
    if name in row
}
model.eval()
with torch.no_grad():
    before = model(**inputs).logits[0]
    inputs["input_ids"][:, : second - 1] = 7
    moved = (model(**inputs).logits[0] - before).abs()
apart = moved[second:].max()
print(f"the second text moves by {apart:.2g}")
assert moved[:second].max() > 0.01, "the change has no effect at all"
assert apart == 0, f"the first text moves the logits of the second by {apart:.2g}"

# All rows together are the texts, end to end. Where a text or a row begins, the position
# is 0 and the label is -100. Everywhere else the position is the next, the label the token.
ends = set(accumulate(len(ids) for ids in tokens["input_ids"]))
stream = [token for ids in tokens["input_ids"] for token in ids]
for number, row in enumerate(packed):
    start = 256 * number
    assert row["input_ids"] == stream[start : start + 256], f"row {number}"
    for place, token in enumerate(row["input_ids"]):
        begins = place == 0 or start + place in ends
        position = 0 if begins else row["position_ids"][place - 1] + 1
        label = -100 if begins else token
        found = row["position_ids"][place], row["labels"][place]
        assert found == (position, label), f"row {number}, place {place}: {found}"
assert len(stream) - 256 * len(packed) < 256, "more than the rest was dropped"
full = pack({"input_ids": [[5, 6], [7, 8]]}, length=2)["input_ids"]
assert full == [[5, 6], [7, 8]], f"without a rest, the rows are {full}"

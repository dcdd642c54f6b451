# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 120
# ablation = { "dataloader_drop_last=True" = "dataloader_drop_last=False" }
# ///
"""With padding to max_length and dataloader_drop_last, every batch of the Trainer has one shape, and padding has no part in the loss."""

import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    Trainer,
    TrainingArguments,
)

checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
texts = load_dataset("Salesforce/wikitext", "wikitext-2-raw-v1", split="train")
texts = texts.filter(lambda row: row["text"].strip()).select(range(22))
shapes = []
model.register_forward_pre_hook(
    lambda module, args, kwargs: shapes.append(tuple(kwargs["input_ids"].shape)),
    with_kwargs=True,
)


# --8<-- [start:enable]
def to_fixed_length(row):
    padded = tokenizer(
        row["text"], truncation=True, padding="max_length", max_length=64
    )
    masked = zip(padded["input_ids"], padded["attention_mask"], strict=True)
    return {**padded, "labels": [token if kept else -100 for token, kept in masked]}


trainer = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=4,
        dataloader_drop_last=True,  # no smaller batch at the end
        num_train_epochs=1,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=texts.map(to_fixed_length, remove_columns=["text"]),
)
# --8<-- [end:enable]
tokens = trainer.train_dataset
lengths = {sum(mask) for mask in tokens["attention_mask"]}
one = {
    key: torch.tensor([tokens[0][key]])
    for key in ("input_ids", "attention_mask", "labels")
}
short = {
    key: value[:, : int(one["attention_mask"].sum())] for key, value in one.items()
}
with torch.no_grad():
    padded, unpadded = model(**one).loss, model(**short).loss
shapes.clear()
trainer.train()
print(
    f"{len(lengths)} lengths, {len(shapes)} batches: shapes {sorted(set(shapes))}"
)
assert len(lengths) > 3, "the texts have one length anyway"
assert abs(padded - unpadded) < 1e-4, f"{padded} with padding, {unpadded} without"
assert set(shapes) == {(4, 64)}, set(shapes)
assert len(shapes) == 22 // 4

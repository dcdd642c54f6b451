# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 120
# ablation = { "train_sampling_strategy=\"group_by_length\"" = "train_sampling_strategy=\"random\"" }
# ///
"""Batches of texts of about the same length send less padding through the model than batches in random order. The longest text comes first."""

import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=128),
    remove_columns=["text"],
)
batches = []  # the shapes that the head gets
hook = model.lm_head.register_forward_hook(
    lambda module, args, output: batches.append(tuple(output.shape[:-1]))
)
longest = []  # the tokens of the longest text of each batch, without padding
model.register_forward_pre_hook(
    lambda module, args, kwargs: longest.append(
        int(kwargs["attention_mask"].sum(1).max())
    ),
    with_kwargs=True,
)

# --8<-- [start:enable]
trainer = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=4,
        train_sampling_strategy="group_by_length",
        num_train_epochs=1,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
trainer.train()
# --8<-- [end:enable]

hook.remove()
lengths = torch.tensor([len(ids) for ids in tokens["input_ids"]])
held = sum(rows * columns for rows, columns in batches)
print(f"{1 - lengths.sum() / held:.0%} of the tokens were padding")

# The proof: fewer tokens are held than in batches of texts in a random order.
shuffled = []
for _ in range(200):
    parts = lengths[torch.randperm(len(lengths))].split(4)
    shuffled.append(sum(len(part) * int(part.max()) for part in parts))
random = sum(shuffled) / len(shuffled)
print(f"{1 - lengths.sum() / random:.0%} in a random order")
assert sum(rows for rows, _ in batches) == len(lengths), "texts are missing"
assert longest == [columns for _, columns in batches], "more than the longest text"
assert held < 0.9 * random, f"{held} tokens, and {random:.0f} in a random order"
assert batches[0][1] == lengths.max(), "the first batch has not the longest text"

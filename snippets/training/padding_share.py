# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# no_ablation = "it counts tokens and turns nothing on; its count is held to the lengths of the texts instead"
# ///
"""The attention masks of a Trainer's batches say which share of its tokens is padding."""

import builtins

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
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)
tokens = tokens.select(
    range(len(tokens) // 8 * 8 - 3)
)  # the last batch has five rows
trainer = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=8,
        report_to="none",
    ),
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)

rows = []  # what the collator is given, to count the padding by
collate = trainer.data_collator
trainer.data_collator = lambda batch: rows.append(batch) or collate(batch)

printed = []


def print(line):  # noqa: A001 - what is printed is part of the proof
    printed.append(line)
    builtins.print(line)


# --8<-- [start:measure]
real = held = 0
for batch in trainer.get_train_dataloader():
    real += batch["attention_mask"].sum().item()
    held += batch["attention_mask"].numel()
print(f"{1 - real / held:.0%} of the tokens are padding")
# --8<-- [end:measure]

lengths = [len(ids) for ids in tokens["input_ids"]]
assert real == sum(lengths), f"{real} tokens instead of {sum(lengths)}"
sizes = [[len(row["input_ids"]) for row in batch] for batch in rows]
assert [len(batch) for batch in sizes[:-1]] == [8] * (len(sizes) - 1)
padding = sum(max(batch) - size for batch in sizes for size in batch)
assert padding > 0, "no batch has padding"
assert held - real == padding, f"{held - real} tokens of padding, not {padding}"
assert printed == [f"{padding / (real + padding):.0%} of the tokens are padding"]

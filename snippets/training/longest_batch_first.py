# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 300
# ablation = { '"group_by_length"' = '"random"' }
# ///
"""The Trainer takes the batch with the longest text first, so a run that will not fit ends in its first steps."""

import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

name = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(name)
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=1024),
    remove_columns=["text"],
)

# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=4,
    train_sampling_strategy="group_by_length",
    max_steps=2,  # the second step has optimizer states
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(
    model,
    arguments,
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
# --8<-- [end:enable]

# --8<-- [start:is-it-on]
shapes = []
model.register_forward_pre_hook(
    lambda module, args, batch: shapes.append(tuple(batch["input_ids"].shape)),
    with_kwargs=True,
)
trainer.train()
longest = max(len(ids) for ids in tokens["input_ids"])
print(f"the first batch is {shapes[0]}, and the longest text has {longest}")
# --8<-- [end:is-it-on]

assert len(shapes) == 2, f"{len(shapes)} batches were taken"
assert shapes[0] == (4, longest), (
    f"the first batch is {shapes[0]}, but one of 4 × {longest} will come"
)

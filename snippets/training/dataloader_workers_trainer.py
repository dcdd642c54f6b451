# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 120
# ablation = { "dataloader_num_workers=2," = "dataloader_num_workers=0,", "dataloader_persistent_workers=True," = "", "dataloader_prefetch_factor=4," = "" }
# ///
"""Two worker processes make the Trainer's batches, and the same two make those of the next epoch."""

import ast
import os
from multiprocessing import active_children
from unittest.mock import patch

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
    lambda row: tokenizer(row["text"], truncation=True, max_length=64),
    remove_columns=["text"],
)
collate = DataCollatorForLanguageModeling(tokenizer, mlm=False)

# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    dataloader_num_workers=2,
    dataloader_persistent_workers=True,
    dataloader_prefetch_factor=4,
    report_to="none",
)
trainer = Trainer(model, arguments, train_dataset=tokens, data_collator=collate)
# --8<-- [end:enable]

assert trainer.data_collator is collate, f"{trainer.data_collator} makes batches"
printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def signed(rows):
    """What the collator makes, with the process that made it."""
    return {**collate(rows), "process": torch.tensor(os.getpid())}


trainer.data_collator = signed
loader = trainer.get_train_dataloader()
epochs = [{int(batch["process"]) for batch in loader} for _ in range(2)]
print(f"I am {os.getpid()}, the batches were made by {epochs}")
# on: other processes than this one, the same in both epochs
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

made, plain = signed([tokens[0]]), collate([tokens[0]])
assert made.pop("process") == os.getpid(), "the batch names another process"
assert made.keys() == plain.keys(), f"{set(made)} instead of {set(plain)}"
assert all(made[name].equal(plain[name]) for name in plain), "another batch"
assert os.getpid() not in epochs[0], "batches are made in the training process"
assert len(epochs[0]) == 2, f"{len(epochs[0])} workers made the batches"
assert loader.prefetch_factor == 4, f"{loader.prefetch_factor} batches are ready"
assert epochs[0] == epochs[1], "the second epoch has other workers"
start, _, processes = shown.partition(", the batches were made by ")
workers = {child.pid for child in active_children()}
assert start == f"I am {os.getpid()}", f"printed was {shown}"
assert ast.literal_eval(processes) == [workers, workers], f"printed was {shown}"

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 120
# ablation = { "    persistent_workers=True," = "", "    prefetch_factor=4," = "", "non_blocking=True" = "non_blocking=False" }
# ///
"""Two persistent worker processes make the batches of both epochs, also behind Accelerate, which copies each batch without waiting."""

import os

import accelerate.data_loader
import torch
from accelerate import Accelerator, DataLoaderConfiguration
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, DataCollatorForLanguageModeling

checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.eos_token
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=64),
    remove_columns=["text"],
)
to_tensors = DataCollatorForLanguageModeling(tokenizer, mlm=False)


def collate(rows):
    """What the collator makes, with the process that made it."""
    made_by = torch.full((len(rows),), os.getpid())
    return {**to_tensors(rows), "process": made_by}


# --8<-- [start:enable]
loader = DataLoader(
    tokens,
    batch_size=8,
    shuffle=True,
    collate_fn=collate,
    num_workers=2,
    persistent_workers=True,
    prefetch_factor=4,
    pin_memory=torch.cuda.is_available(),
)
# --8<-- [end:enable]

# --8<-- [start:accelerate]
accelerator = Accelerator(
    dataloader_config=DataLoaderConfiguration(non_blocking=True)
)
loader = accelerator.prepare(loader)
# --8<-- [end:accelerate]

# Accelerate's own loader sends the batches: with what?
sent = []
send = accelerate.data_loader.send_to_device


def watched(batch, *args, **kwargs):
    """What Accelerate does with a batch, noted."""
    sent.append(kwargs["non_blocking"])
    return send(batch, *args, **kwargs)


accelerate.data_loader.send_to_device = watched

orders = []  # of each epoch: the first token of each sample


def batches():
    """The batches of an epoch, noted."""
    orders.append([])
    for batch in loader:
        orders[-1] += batch["input_ids"][:, 0].tolist()
        yield batch


epochs = [
    {int(process) for batch in batches() for process in batch["process"]}
    for _ in range(2)
]
print(f"I am {os.getpid()}, the batches were made by {epochs}")
assert os.getpid() not in epochs[0], "batches are made in the training process"
assert len(epochs[0]) == 2, f"{len(epochs[0])} workers made the batches"
assert epochs[0] == epochs[1], "the second epoch has other workers"
assert set(sent) == {True}, f"batches are sent with non_blocking {set(sent)}"
assert orders[0] != orders[1], "the second epoch has the order of the first"
assert sorted(orders[0]) == sorted(orders[1]), "the epochs have other samples"
assert loader.prefetch_factor == 4, f"{loader.prefetch_factor} batches are ready"

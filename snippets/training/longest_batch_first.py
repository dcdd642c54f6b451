# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 300
# ablation = { "tokens.select([longest] * batch_size * accumulation)" = "tokens", "gradient_accumulation_steps=accumulation," = "" }
# ///
"""Two steps on the longest text are the worst case of a run: the second one has the optimizer states, and gradients from its second micro-batch on."""

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
batch_size, accumulation = 4, 2  # those of the real run
lengths = [len(ids) for ids in tokens["input_ids"]]
longest = max(range(len(lengths)), key=lengths.__getitem__)
trial = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=batch_size,
        gradient_accumulation_steps=accumulation,
        max_steps=2,  # the second step has optimizer states
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=tokens.select([longest] * batch_size * accumulation),
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
seen = []  # of each batch: its shape, and how many weights have gradients and states


def note(module, _, batch):
    gradients = sum(p.grad is not None for p in module.parameters())
    shape = tuple(batch["input_ids"].shape)
    seen.append((shape, gradients, len(trial.optimizer.state)))


model.register_forward_pre_hook(note, with_kwargs=True)
trial.train()
print(f"the longest text has {max(lengths)} tokens")
print("\n".join(f"{shape}: {grads}, {states}" for shape, grads, states in seen))
# --8<-- [end:is-it-on]
shown = [c.args[0] for c in printed.call_args_list if type(c.args[0]) is str]

every = len(list(model.parameters()))
wanted = [(0, 0), (every, 0), (0, every), (every, every)]
assert [found for _, *found in seen] == [list(row) for row in wanted], seen
most = max(len(tokenizer(text)["input_ids"]) for text in texts["text"])
assert {shape for shape, *_ in seen} == {(batch_size, most)}, seen
rows = "\n".join(f"(4, {most}): {grads}, {states}" for grads, states in wanted)
assert shown == [f"the longest text has {most} tokens", rows], (
    f"printed was {shown}"
)

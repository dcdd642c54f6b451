# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# ablation = { "optim=\"adafactor\"" = "optim=\"adamw_torch_fused\"" }
# ///
"""Of each matrix, Adafactor stores one number per row and one per column, where AdamW stores two per parameter."""

import math
from unittest.mock import patch

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
model = AutoModelForCausalLM.from_pretrained(checkpoint)
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)
before = {name: p.detach().clone() for name, p in model.named_parameters()}

# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    optim="adafactor",
    max_steps=2,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(
    model,
    arguments,
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
trainer.train()
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
states = sum(
    value.nbytes
    for state in trainer.optimizer.state.values()
    for value in state.values()
    if hasattr(value, "nbytes")
)
trained = sum(p.numel() for p in trainer.model.parameters() if p.requires_grad)
print(f"{states / trained:.2f} bytes of state per parameter")  # AdamW: 8.00
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert trainer.state.global_step == 2
stored = 0
for name, weight in model.named_parameters():
    state = trainer.optimizer.state[weight]
    numbers = {k: tuple(v.shape) for k, v in state.items() if getattr(v, "ndim", 0)}
    expected = {"exp_avg_sq": tuple(weight.shape)}
    if weight.dim() == 2:
        rows, columns = weight.shape
        expected = {"exp_avg_sq_row": (rows,), "exp_avg_sq_col": (columns,)}
    assert numbers == expected, f"{name} has the states {numbers}"
    stored += 4 * (1 + sum(math.prod(shape) for shape in numbers.values()))
    assert not before[name].equal(weight.cpu()), f"{name} was not updated"
# Next to these, a parameter has one scalar, the size of its weights.
each = stored / sum(weight.numel() for weight in before.values())
assert states == stored, (states, stored)
assert shown == f"{each:.2f} bytes of state per parameter", f"printed was {shown}"
assert each < 0.5, f"the optimizer keeps {each:.2f} bytes per parameter"

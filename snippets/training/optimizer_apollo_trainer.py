# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "apollo-torch>=1.0.3",
# ]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# datasets = ["Salesforce/wikitext"]
# timeout = 240
# ablation = { "optim=\"apollo_adamw\"" = "optim=\"adamw_torch\"" }
# ///
"""APOLLO stores AdamW's states in a low rank, and uses them only to scale whole rows or columns of the gradient."""

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

checkpoint = "HuggingFaceTB/SmolLM2-135M"
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
before = {name: p.detach().clone() for name, p in model.named_parameters()}


# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    optim="apollo_adamw",
    optim_target_modules="all-linear",
    optim_args="rank=32",  # the Trainer's default is 128
    learning_rate=1e-3,
    max_steps=1,
    save_strategy="no",
    report_to="none",
)
# --8<-- [end:enable]
trainer = Trainer(
    model,
    arguments,
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
gradients = {}  # of the one step, for the proof
trainer.create_optimizer().register_step_pre_hook(
    lambda *_: gradients.update(
        {name: p.grad.detach().cpu() for name, p in model.named_parameters()}
    )
)
trainer.train()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
low = {
    name: tuple(trainer.optimizer.state[p]["exp_avg"].shape)
    for name, p in model.named_parameters()
    if trainer.optimizer.state[p]["exp_avg"].shape != p.shape
}
print(len(low), list(low.items())[:2])  # one side of each shape is the rank
# --8<-- [end:is-it-on]
shown = printed.call_args.args

linear = [name for name in before if ".layers." in name and before[name].ndim == 2]
assert sorted(low) == sorted(linear), f"{len(low)} of {len(linear)} matrices"
wanted = {}
for name in linear:
    rows, columns = before[name].shape
    wanted[name] = (rows, 32) if rows >= columns else (32, columns)
    assert low[name] == wanted[name], f"{name}: states of shape {low[name]}"
    update = before[name] - model.get_parameter(name).detach().cpu()
    # Every channel, along the larger side, is the gradient's times one number.
    along = 0 if update.shape[0] < update.shape[1] else 1
    alike = torch.nn.functional.cosine_similarity(
        update, gradients[name], dim=along
    )
    assert alike.min() > 0.99, f"{name}: no scaled gradient, {alike.min():.3f}"
    scales = update.norm(dim=along) / gradients[name].norm(dim=along)
    assert scales.max() > 1.1 * scales.min(), f"{name}: one number for all"
assert shown == (len(linear), list(wanted.items())[:2]), f"printed was {shown}"

# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "bitsandbytes>=0.50",
# ]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 240
# ablation = { "optim=\"lion_32bit\"" = "optim=\"adamw_torch\"" }
# ///
"""Lion stores one mean, and moves every weight by the learning rate along the sign of an update."""

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
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)
before = {name: p.detach().clone() for name, p in model.named_parameters()}


# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    optim="lion_32bit",
    learning_rate=1e-5,
    adam_beta2=0.99,  # else Lion gets AdamW's 0.999
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
states = sum(
    value.nbytes
    for state in trainer.optimizer.state.values()
    for value in state.values()
    if torch.is_tensor(value)
)
numbers = sum(weight.numel() for weight in model.parameters())
print(f"{states / numbers:.2f} bytes of state per parameter")  # AdamW: 8.00
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert states == 4 * numbers, f"{states / numbers:.2f} bytes of state per parameter"
assert shown == "4.00 bytes of state per parameter", f"printed was {shown}"
decays = {group["weight_decay"] for group in trainer.optimizer.param_groups}
assert decays == {0}, f"the weights decay as well, by {decays}"
betas = {group["betas"] for group in trainer.optimizer.param_groups}
assert betas == {(0.9, 0.99)}, f"Lion has the betas {betas}"
for name, weight in model.named_parameters():
    moved = weight.detach().cpu() - before[name]
    assert gradients[name].any(), f"{name} had no gradient"
    wanted = -1e-5 * gradients[name].sign()
    assert torch.allclose(moved, wanted, rtol=0, atol=2e-7), f"{name}: no sign"
    mean = trainer.optimizer.state[weight]["state1"].cpu()
    assert torch.allclose(mean, 0.01 * gradients[name], rtol=1e-3), f"{name}: beta2"

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# datasets = ["Salesforce/wikitext"]
# ablation = { ", dtype=torch.float32" = "" }
# ///
"""With fp32 weights, bf16=True in the Trainer is autocast: matmuls return bf16, weights and optimizer states stay fp32."""

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

checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)

# --8<-- [start:enable]
# The checkpoint is bf16, and without a dtype the weights would be, too.
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    bf16=True,
    use_cpu=not torch.cuda.is_available(),
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
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
formats: set[torch.dtype] = set()
layer = next(m for m in model.modules() if isinstance(m, torch.nn.Linear))
layer.register_forward_hook(lambda *args: formats.add(args[-1].dtype))

trainer.train()

groups = trainer.optimizer.state.values()
states = {t.dtype for group in groups for t in group.values() if t.dim()}
print("matmuls", formats, "weights", layer.weight.dtype, "optimizer", states)
# --8<-- [end:is-it-on]
shown = " ".join(map(str, printed.call_args.args))

assert formats == {torch.bfloat16}, f"the first linear layer gave {formats}"
weights = {p.dtype for p in model.parameters()}
assert weights == {torch.float32}, f"weights are {weights}: not mixed precision"
assert states == {torch.float32}, f"the optimizer's states are {states}"
found = "weights torch.float32 optimizer {torch.float32}"
assert shown == f"matmuls {{torch.bfloat16}} {found}", f"printed was {shown}"
unasked = AutoModelForCausalLM.from_pretrained(checkpoint).dtype
assert unasked == torch.bfloat16, f"without a dtype, weights are {unasked}"

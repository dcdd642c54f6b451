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
# ablation = { "optim=\"adamw_bnb_8bit\"" = "optim=\"adamw_torch\"" }
# ///
"""The Trainer's 8-bit AdamW stores one byte where AdamW stores four, except for embeddings and small tensors."""

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
before = [p.detach().clone() for p in model.parameters()]

# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    optim="adamw_bnb_8bit",
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
bits = {}
for name, weight in model.named_parameters():
    state = trainer.optimizer.state[weight]
    dtypes = {
        v.dtype for v in state.values() if getattr(v, "shape", 0) == weight.shape
    }
    bits.setdefault(str(dtypes), []).append(name)
for dtypes, names in bits.items():
    print(dtypes, len(names), names[:2])  # on: {torch.uint8} for most matrices
# --8<-- [end:is-it-on]
shown = [call.args for call in printed.call_args_list]

matrices = bits.get("{torch.uint8}", [])
assert len(matrices) == 4 * model.config.n_layer, f"in 8 bits: {matrices}"
large = {n for n, p in model.named_parameters() if p.numel() >= 4096}
names = [n for n, _ in model.named_parameters()]
quantized = [n for n in names if n in large and "wte" not in n and "wpe" not in n]
exact = [n for n in names if n not in quantized]
assert shown == [
    ("{torch.float32}", len(exact), exact[:2]),
    ("{torch.uint8}", len(quantized), quantized[:2]),
], f"printed was {shown}"
for (name, weight), old in zip(model.named_parameters(), before, strict=True):
    assert not old.equal(weight.detach().cpu()), f"{name} was not updated"
    kept = sum(
        value.nbytes
        for key, value in trainer.optimizer.state[weight].items()
        if torch.is_tensor(value) and not key.startswith("qmap")
    )
    exempt = name.endswith(("wte.weight", "wpe.weight")) or weight.numel() < 4096
    expected = 8 if exempt else 2 + 2 * 4 / 256
    assert abs(kept / weight.numel() - expected) < 0.01, (
        f"{name}: {kept / weight.numel():.2f} bytes of state per parameter"
    )

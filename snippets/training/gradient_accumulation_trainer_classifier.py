# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { "model.accepts_loss_kwargs = False" = "model.accepts_loss_kwargs = True" }
# ///
"""A classifier averages its loss itself. Unless accepts_loss_kwargs is False, the Trainer's loss is too large by the number of micro-batches."""

import torch
from datasets import Dataset
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
texts = ["One line. " * count for count in (1, 2, 3, 5, 8, 13, 21, 34)]
tokens = Dataset.from_list(
    [{**tokenizer(text), "label": number % 2} for number, text in enumerate(texts)]
)
collator = DataCollatorWithPadding(tokenizer)
model = AutoModelForSequenceClassification.from_pretrained(
    checkpoint,
    dtype=torch.float32,
    num_labels=2,
    pad_token_id=tokenizer.pad_token_id,
)

# --8<-- [start:enable]
model.accepts_loss_kwargs = False  # before the Trainer is made: it asks then
trainer = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=2,
        gradient_accumulation_steps=4,
        max_steps=1,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=tokens,
    data_collator=collator,
)
# --8<-- [end:enable]
batch = collator(list(tokens)).to(model.device)
with torch.no_grad():
    right = model(**batch).loss.item()
trainer.train()
logged = trainer.state.log_history[0]["loss"]
print(f"the Trainer says {logged:.4f}, the loss is {right:.4f}")

# The proof: the loss of the step is that of all sequences at once, and not the sum of four means.
assert abs(logged - right) < 1e-4 * right, f"{logged} was logged, not {right}"

# Without it, the loss is that sum: four times as large.
model.accepts_loss_kwargs = True
with torch.no_grad():
    right = model(**batch).loss.item()
usual = Trainer(model, trainer.args, train_dataset=tokens, data_collator=collator)
usual.train()
logged = usual.state.log_history[0]["loss"]
assert abs(logged - 4 * right) < 1e-3 * right, (
    f"{logged} was logged, not 4 x {right}"
)

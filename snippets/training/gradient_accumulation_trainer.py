# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { "gradient_accumulation_steps=4" = "gradient_accumulation_steps=1" }
# ///
"""With gradient_accumulation_steps, the Trainer makes one step of several small batches, and weighs every label alike."""

from unittest.mock import patch

import torch
from datasets import Dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
texts = ["One line. " * count for count in (1, 2, 3, 5, 8, 13, 21, 34)]
tokens = Dataset.from_list(
    [{"input_ids": tokenizer(t)["input_ids"]} for t in texts]
)
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)

# What one batch of all eight sequences gives, to compare with.
device = "cuda" if torch.cuda.is_available() else "cpu"
model.to(device)(**collator(list(tokens)).to(device)).loss.backward()
large = [p.grad.clone() for p in model.parameters()]
model.zero_grad()

accumulated = []


class KeepGradients(TrainerCallback):
    """Note the gradients just before the optimizer uses them."""

    def on_pre_optimizer_step(self, *_, model, **__):
        """What the Trainer calls then."""
        accumulated[:] = [p.grad.clone() for p in model.parameters()]


# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=2,
    gradient_accumulation_steps=4,  # 8 sequences per step, 2 at a time
    max_steps=1,
    save_strategy="no",
    report_to="none",
)
# --8<-- [end:enable]
arguments.max_grad_norm = 0.0  # gradients as they are
trainer = Trainer(
    model,
    arguments,
    train_dataset=tokens,
    data_collator=collator,
    callbacks=[KeepGradients()],
)

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
forwards = []
model.register_forward_hook(lambda *_: forwards.append(1))
trainer.train()
print(f"{len(forwards)} forward passes, {trainer.state.global_step} optimizer step")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert trainer.state.global_step == 1
assert len(forwards) == 4, f"{len(forwards)} forward passes in one step"
assert shown == "4 forward passes, 1 optimizer step", f"printed was {shown}"
assert all(gradient.any() for gradient in large), "a gradient is 0"
apart = max(
    (a - b).norm() / b.norm() for a, b in zip(accumulated, large, strict=True)
)
print(f"gradients differ by {apart:.1e} of their length from those of one batch")
assert apart < 1e-4, f"the gradients differ by {apart:.1e} of their length"

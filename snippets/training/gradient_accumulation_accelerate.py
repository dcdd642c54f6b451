# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { "model(**batch, num_items_in_batch=labels).loss" = "model(**batch).loss / len(micro_batches)" }
# ///
"""With Accelerate, a loop that divides by the labels of the whole step has the gradients of one large batch."""

from unittest.mock import patch

import torch
from accelerate import Accelerator
from accelerate.optimizer import AcceleratedOptimizer
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)


def batch_of(texts):
    batch = tokenizer(texts, return_tensors="pt", padding=True)
    batch["labels"] = batch["input_ids"].masked_fill(
        batch["attention_mask"] == 0, -100
    )
    return batch.to(accelerator.device)


# --8<-- [start:enable]
accelerator = Accelerator()  # without gradient_accumulation_steps
model, optimizer = accelerator.prepare(model, optimizer)


def accumulate(micro_batches):
    """Gradients of one step; what counts is the labels of all micro-batches."""
    labels = sum((b["labels"][:, 1:] != -100).sum() for b in micro_batches)
    for batch in micro_batches:
        loss = model(**batch, num_items_in_batch=labels).loss
        accelerator.backward(loss)


# --8<-- [end:enable]

# The longest text has many times the labels of the shortest one.
texts = ["One line. " * count for count in (1, 2, 8, 30)]
micro_batches = [batch_of(texts[:2]), batch_of(texts[2:])]


accumulate(micro_batches)
assert all(p.grad is not None for p in model.parameters()), "no gradients"
assert isinstance(optimizer, AcceleratedOptimizer), "not prepared"
optimizer.zero_grad()
printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def gradients():
    found = [p.grad.clone() for p in model.parameters()]
    optimizer.zero_grad()
    return found


accumulate(micro_batches)
small = gradients()
model(**batch_of(texts)).loss.backward()  # all at once
large = gradients()
apart = max((a - b).norm() / b.norm() for a, b in zip(small, large, strict=True))
print(f"gradients differ by {apart:.1e} of their length")  # about 1e-6
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

# The proof: the gradients are those of one large batch. accumulate() gives others: it divides mean losses by steps.
assert apart < 1e-4, f"the gradients differ by {apart:.1e} of their length"
pairs = zip(small, large, strict=True)
found = max((a - b).norm() / b.norm() for a, b in pairs)
assert shown == f"gradients differ by {found:.1e} of their length", (shown, found)
usual = Accelerator(gradient_accumulation_steps=2)
for batch in micro_batches:
    with usual.accumulate(model):
        usual.backward(model(**batch).loss)
mean_of_means = gradients()
wrong = max(
    (a - b).norm() / b.norm() for a, b in zip(mean_of_means, large, strict=True)
)
print(f"with accumulate() and the model's own loss, by {wrong:.1e}")
assert wrong > 0.1, f"accumulate() is right by now: {wrong:.1e}"

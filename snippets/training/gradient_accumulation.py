# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "model(**batch, num_items_in_batch=labels).loss" = "(model(**batch).loss / len(micro_batches))" }
# ///
"""Gradient accumulation adds up the gradients of small batches. With each loss divided by the labels of the whole step, they are those of one large batch."""

from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32).to(
    device
)
model.eval()  # without dropout, so that gradients can be compared
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)


def batch_of(texts):
    batch = tokenizer(texts, return_tensors="pt", padding=True).to(device)
    batch["labels"] = batch["input_ids"].masked_fill(
        batch["attention_mask"] == 0, -100
    )
    return batch


# The longest text has many times the labels of the shortest one.
texts = ["One line. " * count for count in (1, 2, 8, 30)]
micro_batches = [batch_of(texts[:2]), batch_of(texts[2:])]


before = [p.detach().clone() for p in model.parameters()]


# --8<-- [start:enable]
def accumulate(micro_batches):
    """Gradients of one step; what counts is the labels of all micro-batches."""
    labels = sum((b["labels"][:, 1:] != -100).sum() for b in micro_batches)
    for batch in micro_batches:
        model(**batch, num_items_in_batch=labels).loss.backward()


accumulate(micro_batches)
optimizer.step()
optimizer.zero_grad()
# --8<-- [end:enable]
pairs = zip(before, model.parameters(), strict=True)
assert not any(old.equal(new) for old, new in pairs), "a weight did not move"

printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def gradients():
    found = [p.grad.clone() for p in model.parameters()]
    optimizer.zero_grad()
    return found


accumulate(micro_batches)
small = gradients()
model(**batch_of(texts)).loss.backward()  # all sequences at once
large = gradients()
apart = max((a - b).norm() / b.norm() for a, b in zip(small, large, strict=True))
print(f"gradients differ by {apart:.1e} of their length")  # about 1e-6
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

# The proof: the gradients are those of one large padded batch, and not a mean of means.
assert apart < 1e-4, f"the gradients differ by {apart:.1e} of their length"
pairs = zip(small, large, strict=True)
found = max((a - b).norm() / b.norm() for a, b in pairs)
assert shown == f"gradients differ by {found:.1e} of their length", (shown, found)
for batch in micro_batches:
    (model(**batch).loss / len(micro_batches)).backward()
pairs = zip(gradients(), large, strict=True)
wrong = max((a - b).norm() / b.norm() for a, b in pairs)
assert wrong > 0.1, f"the mean of means has the same gradients: {wrong:.1e}"

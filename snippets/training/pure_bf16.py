# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "dtype=torch.bfloat16" = "dtype=torch.float32" }
# ///
"""bf16 weights, gradients and optimizer states take 8 bytes per parameter. Updates below half of a weight's last digit are lost."""

from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(
    ["Half of the bytes, and a third of the digits."] * 8, return_tensors="pt"
).to(device)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
model = model.to(device).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)


def step() -> None:
    optimizer.zero_grad()  # here, so that the check can read the gradients
    model(**batch, labels=batch["input_ids"]).loss.backward()
    optimizer.step()


# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
weights = list(model.parameters())
before = [weight.detach().clone() for weight in weights]
step()
held = weights + [weight.grad for weight in weights]
held += [
    optimizer.state[w][mean] for w in weights for mean in ("exp_avg", "exp_avg_sq")
]
count = sum(weight.numel() for weight in weights)
size = sum(tensor.nbytes for tensor in held) / count
changed = sum((w != old).sum() for w, old in zip(weights, before, strict=True))
print(f"{size:.2f} bytes per parameter")  # bf16: 8.00, fp32: 16.00
print(f"{changed / count:.0%} of the weights changed")  # few: updates are lost
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list]

assert f"{size:.2f}" == "8.00", f"{size:.2f} bytes per parameter"
assert model.training, "the model is not in training mode"
assert len({id(tensor) for tensor in held}) == 4 * len(weights), "one counts twice"
fresh = AutoModelForCausalLM.from_pretrained(checkpoint).bfloat16()
pairs = zip(model.parameters(), fresh.to(device).parameters(), strict=True)
share = sum(int((new != old).sum()) for new, old in pairs) / model.num_parameters()
assert shown == [
    "8.00 bytes per parameter",
    f"{share:.0%} of the weights changed",
], f"printed was {shown}"

# The proof of the loss: AdamW's first update has the size of the learning rate. Next to
# 1/128, half of the last digit is 2**-16, which is more. So no such weight has changed.
pairs = list(zip(weights, before, strict=True))
large = [(w[old.abs() > 2**-7], old[old.abs() > 2**-7]) for w, old in pairs]
total = sum(old.numel() for _, old in large)
moved = sum(int((w != old).sum()) for w, old in large)
had = sum(int((w.grad[old.abs() > 2**-7] != 0).sum()) for w, old in pairs)
print(f"of {total} weights above 1/128, {had} had a gradient and {moved} changed")
assert had > total / 2, f"only {had} of {total} weights had a gradient"
assert moved == 0, f"{moved} weights changed by less than half of their last digit"

# Control: the same update changes fp32 copies of these weights.
rate = optimizer.param_groups[0]["lr"]
masters = [old.float().requires_grad_() for old in before]
for master, weight in zip(masters, weights, strict=True):
    master.grad = weight.grad.float()
torch.optim.AdamW(masters, lr=rate).step()
large = [old.abs() > 2**-7 for old in before]
triples = zip(masters, before, large, strict=True)
arrived = sum(int((m != old)[which].sum()) for m, old, which in triples)
assert arrived >= had, f"only {arrived} fp32 weights changed, and {had} should"
assert 0 < changed < count / 2, f"{changed} of {count} bf16 weights changed"

# A step clears the gradients of the step before.
weights[0].grad.fill_(1e3)
step()
assert weights[0].grad.abs().max() < 100, "an old gradient was added"

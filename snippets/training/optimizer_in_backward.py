# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "    weight.register_post_accumulate_grad_hook(update)" = "    pass" }
# ///
"""Each weight is updated during the backward pass as soon as its gradient is complete. Its gradient is freed before the next one is complete."""

from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["One gradient at a time."] * 4, return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).eval()  # no dropout, so that two runs can be compared

# --8<-- [start:enable]
optimizers = {
    weight: torch.optim.AdamW([weight], lr=1e-5, fused=True)
    for weight in model.parameters()
}


def update(weight: torch.Tensor) -> None:
    optimizers[weight].step()
    optimizers[weight].zero_grad()


for weight in model.parameters():
    weight.register_post_accumulate_grad_hook(update)


def step() -> None:
    model(**batch, labels=batch["input_ids"]).loss.backward()


# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
step()
left = [name for name, p in model.named_parameters() if p.grad is not None]
print(f"{len(left)} gradients are left after backward")  # on: 0
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert not left, f"{len(left)} gradients are still there after backward"
assert shown == "0 gradients are left after backward", f"printed was {shown}"

# The proof. Whenever a gradient was complete and its hook has run: no gradient is left,
# and the weights that have changed are those whose hooks have run.
old = {weight: weight.detach().clone() for weight in model.parameters()}
done: list[torch.Tensor] = []


def watch(weight: torch.Tensor) -> None:
    done.append(weight)
    alive = sum(p.grad is not None for p in model.parameters())
    assert alive == 0, f"{alive} gradients exist during backward"
    changed = {p for p in model.parameters() if not p.equal(old[p])}
    assert changed == set(done), f"{len(changed)} weights changed after {len(done)}"


for weight in model.parameters():
    weight.register_post_accumulate_grad_hook(watch)
step()
assert len(done) == len(old), f"{len(done)} of {len(old)} weights were updated"

# After these two steps, the weights are those of an ordinary AdamW.
ordinary = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
ordinary = ordinary.to(device).eval()
before = ordinary.lm_head.weight.detach().clone()
adamw = torch.optim.AdamW(ordinary.parameters(), lr=1e-5, fused=True)
for _ in range(2):
    ordinary(**batch, labels=batch["input_ids"]).loss.backward()
    adamw.step()
    adamw.zero_grad()
assert not before.equal(ordinary.lm_head.weight)
for one, other in zip(model.parameters(), ordinary.parameters(), strict=True):
    assert torch.allclose(one, other, rtol=0, atol=1e-7), (
        "a weight is not that of AdamW"
    )

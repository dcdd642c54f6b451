# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 240
# ablation = { "torch.optim.Muon(matrices, lr=1e-4, adjust_lr_fn=\"match_rms_adamw\")" = "torch.optim.AdamW(matrices, lr=1e-4)" }
# ///
"""Muon stores one mean for each matrix of the blocks, and makes its update nearly orthogonal. AdamW updates all other weights."""

from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Orthogonal, or nearly so."] * 4, return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()

# --8<-- [start:enable]
matrices = [p for p in model.model.layers.parameters() if p.ndim == 2]
theirs = set(matrices)
others = [
    p for p in model.parameters() if p not in theirs
]  # embedding, head, norms
optimizers = [
    torch.optim.Muon(matrices, lr=1e-4, adjust_lr_fn="match_rms_adamw"),
    torch.optim.AdamW(others, lr=1e-4, weight_decay=0.1, fused=True),
]


def step() -> None:
    model(**batch, labels=batch["input_ids"]).loss.backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()


# --8<-- [end:enable]

before = [p.detach().clone() for p in matrices]
rest = [p.detach().clone() for p in others]
gradients = []  # for the proof
optimizers[0].register_step_pre_hook(
    lambda *_: gradients.extend(p.grad.clone() for p in matrices)
)
step()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
states = sum(v.nbytes for s in optimizers[0].state.values() for v in s.values())
numbers = sum(p.numel() for p in matrices)
print(f"{states / numbers:.2f} bytes of state per parameter of Muon")  # AdamW: 8.00
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert states == 4 * numbers, f"{states / numbers:.2f} bytes of state per parameter"
assert shown == "4.00 bytes of state per parameter of Muon", f"printed was {shown}"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
assert len(optimizers[0].state) == len(matrices) == 4 * 7
for old, new, gradient in zip(before, matrices, gradients, strict=True):
    update = (old * (1 - 1e-4 * 0.1) - new.detach()) / 1e-4
    update = update / (0.2 * max(new.shape) ** 0.5)
    largest = torch.linalg.matrix_norm(update, 2)
    assert 0.7 < largest < 1.4, f"not orthogonal: {largest:.2f}"
    # The same iteration, written out in fp32: singular values go to about 1.
    wanted = gradient / gradient.norm()
    for _ in range(5):
        gram = wanted @ wanted.T
        wanted = 3.4445 * wanted + (2.0315 * gram @ gram - 4.775 * gram) @ wanted
    alike = torch.cosine_similarity(update.flatten(), wanted.flatten(), dim=0)
    # bf16 blurs the smallest singular values; the gradient itself is far off.
    assert alike > 0.9, f"the update is another: {alike:.3f}"
    plain = torch.cosine_similarity(update.flatten(), gradient.flatten(), dim=0)
    assert plain < 0.8, f"the update is the gradient: {plain:.3f}"

# AdamW's first step moves every other weight by the learning rate, where it has a
# gradient. No weight is left out, and none is in both optimizers.
assert len(others) == len(list(model.parameters())) - 4 * 7
for old, new in zip(rest, others, strict=True):
    assert set(optimizers[1].state[new]) == {"step", "exp_avg", "exp_avg_sq"}
    decayed = old * (1 - 1e-4 * 0.1)
    moved = (new.detach() - decayed).abs().max()
    assert abs(moved - 1e-4) < 1e-6, f"AdamW moved a weight by {moved:.1e}"

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "torch.amp.GradScaler(device)" = "torch.amp.GradScaler(device, enabled=False)" }
# ///
"""fp16 needs a loss scale: the scaler multiplies the loss, and leaves out a step whose gradients overflow."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(
    ["A gradient below the smallest fp16 number is lost."] * 4, return_tensors="pt"
).to(device)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32).to(
    device
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
scaler = torch.amp.GradScaler(device)


def step() -> None:
    with torch.autocast(device, dtype=torch.float16):
        loss = model(**batch, labels=batch["input_ids"]).loss
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()


# --8<-- [end:enable]

step()
before = [p.detach().clone() for p in model.parameters()]
scale = scaler.get_scale()

# The proof: one gradient becomes infinite, as fp16 does beyond 65504. The step is left out, and the scale shrinks.
weight = model.transformer.h[0].mlp.c_fc.weight
weight.register_hook(lambda gradient: torch.full_like(gradient, float("inf")))
step()
same = all(
    torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True)
)
print(
    f"after an overflow: weights {'kept' if same else 'changed'}, scale {scale:g} -> {scaler.get_scale():g}"
)
assert same, "a step with infinite gradients was taken"
assert scaler.get_scale() == scale / 2, (
    f"the scale went from {scale:g} to {scaler.get_scale():g}"
)

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "torch.amp.GradScaler(device)" = "torch.amp.GradScaler(device, enabled=False)" }
# ///
"""fp16 needs a loss scale. The scaler skips a step whose gradients overflow, and halves the scale."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(
    ["A gradient below the smallest fp16 number is lost."] * 4, return_tensors="pt"
).to(device)

# A checkpoint in bf16, as most new ones are.
saved = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
saved.save_pretrained(checkpoint := "checkpoint-in-bf16")

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
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

# The proof: products give fp16; the scale lifts a gradient that fp16 would lose; and a
# step with an infinite gradient, as fp16 has beyond 65504, is left out.
products: set[torch.dtype] = set()
model.lm_head.register_forward_hook(lambda *args: products.add(args[-1].dtype))
before = [p.detach().clone() for p in model.parameters()]
norms: list[torch.Tensor] = []
optimizer.register_step_pre_hook(
    lambda *_: norms.append(
        torch.nn.utils.get_total_norm(p.grad for p in model.parameters())
    )
)
step()
types = {p.dtype for p in model.parameters()}
assert types == {torch.float32}, f"the weights are {types}"
assert products == {torch.float16}, f"the logits were computed in {products}"
counted = scaler.state_dict().get("_growth_tracker", 0)
assert counted == scaler.is_enabled(), "the scaler was not updated"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
pairs = zip(model.parameters(), before, strict=True)
assert all(not torch.equal(now, then) for now, then in pairs), "no step was taken"
# What is clipped to 1 are the gradients without the scale.
assert abs(norms[0] - 1) < 1e-3, f"the gradients' norm is {norms[0]} after clipping"

tiny = torch.tensor(1e-8, device=device)
lost, lifted = tiny.half(), scaler.scale(tiny).half()
assert lost == 0, "fp16 holds a hundred-millionth"
assert lifted > 0, "the scale does not lift what fp16 would lose"

before = [p.detach().clone() for p in model.parameters()]
scale = scaler.get_scale()
weight = model.transformer.h[0].mlp.c_fc.weight
weight.register_hook(lambda gradient: torch.full_like(gradient, float("inf")))
step()
pairs = zip(model.parameters(), before, strict=True)
same = all(torch.equal(now, then) for now, then in pairs)
now = scaler.get_scale()
print(
    f"overflow: weights {'kept' if same else 'changed'}, scale {scale:g} -> {now:g}"
)
assert same, "a step with infinite gradients was taken"
assert now == scale / 2, f"the scale went from {scale:g} to {now:g}"

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "optimizer.zero_grad()  # frees" = "optimizer.zero_grad(set_to_none=False)  # frees" }
# ///
"""zero_grad() before the forward pass frees 4 bytes per fp32 parameter. After the forward pass, or with set_to_none=False, the old gradients are there while activations grow."""

import weakref

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["When are the old gradients freed?"] * 4, return_tensors="pt")
batch = batch.to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)


def gradients() -> int:
    """Bytes of gradients that exist now."""
    grads = (p.grad for p in model.parameters() if p.grad is not None)
    return sum(grad.numel() * grad.element_size() for grad in grads)


during_forward = []  # bytes of gradients at the model's output, in each step
model.register_forward_hook(lambda *args: during_forward.append(gradients()))

# --8<-- [start:enable]
for _ in range(2):
    optimizer.zero_grad()  # frees the gradients of the last step
    loss = model(**batch, labels=batch["input_ids"]).loss
    loss.backward()
    optimizer.step()
# --8<-- [end:enable]

before = during_forward[-1]
print(f"{before:,} bytes of old gradients in the forward pass")
parameters = sum(p.numel() for p in model.parameters())
assert before == 0, f"{before / parameters:.1f} bytes per parameter are still there"


def freed(call) -> float:
    """Bytes of gradients per parameter whose memory a call gives back."""
    model(**batch, labels=batch["input_ids"]).loss.backward()
    held = {weakref.ref(p.grad): 4 * p.grad.numel() for p in model.parameters()}
    call()
    gone = sum(size for tensor, size in held.items() if tensor() is None)
    return gone / parameters


default = freed(optimizer.zero_grad)
zeros = freed(lambda: optimizer.zero_grad(set_to_none=False))
print(f"bytes freed per parameter: {default}, with set_to_none=False: {zeros}")
assert default == 4, f"{default} bytes per parameter are freed"
assert zeros == 0, f"zeros free {zeros} bytes per parameter"

# Between the forward and the backward pass, the call is too late.
loss = model(**batch, labels=batch["input_ids"]).loss
optimizer.zero_grad()
loss.backward()
assert during_forward[-1] == 4 * parameters, f"{during_forward[-1]:,} bytes"

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { 'dtype=torch.float32' = 'dtype=torch.float16' }
# ///
"""A gradient scaler refuses gradients in fp16, which come from weights in fp16. With fp32 weights and autocast, it takes a step."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer("One step.", return_tensors="pt").to(device)


def step(model):
    """Take a step, and return the error or the data types of the gradients."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device, init_scale=2.0)
    with torch.autocast(device, dtype=torch.float16):
        loss = model(**batch, labels=batch["input_ids"]).loss
    scaler.scale(loss).backward()
    try:
        scaler.unscale_(optimizer)
    except ValueError as error:
        return str(error)
    scaler.step(optimizer)
    return {p.grad.dtype for p in model.parameters()}


half = AutoModelForCausalLM.from_pretrained(checkpoint).half().to(device)
print(step(half))
assert step(half) == "Attempting to unscale FP16 gradients.", step(half)

# --8<-- [start:cure]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
# --8<-- [end:cure]
found = step(model.to(device))
assert found == {torch.float32}, found

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "lr=1e-5, fused=True" = "lr=1e-5, foreach=True" }
# ///
"""The fused AdamW updates the weights in one kernel, without a copy of their size."""

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["An update needs no copy."] * 4, return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()

# --8<-- [start:enable]
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)


def step() -> None:
    model(**batch, labels=batch["input_ids"]).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


# --8<-- [end:enable]

step()  # from the second step on, the optimizer's states exist
model(**batch, labels=batch["input_ids"]).loss.backward()

# --8<-- [start:is-it-on]
with profile(profile_memory=True) as trace:
    optimizer.step()
print(any("_fused_adamw_" in row.key for row in trace.key_averages()))  # on: True
# --8<-- [end:is-it-on]

# The proof: the fused kernel ran, and the update allocated next to nothing.
names = {row.key for row in trace.key_averages()}
assert any("_fused_adamw_" in name for name in names), "no fused kernel ran"

taken = sum(
    max(event.self_cpu_memory_usage, 0) + max(event.self_device_memory_usage, 0)
    for event in trace.events()
)
gradients = sum(p.grad.nbytes for p in model.parameters())
print(f"the update allocated {taken:,} bytes; the gradients have {gradients:,}")
assert taken < 0.01 * gradients, f"the update allocated {taken} bytes"

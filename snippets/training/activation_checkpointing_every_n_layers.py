# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "every_n_layers=2" = "every_n_layers=1" }
# ///
"""Checkpointing every second block recomputes half of the blocks, and saves the activations of the other half."""

from collections import Counter

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Half of the blocks are run again."] * 4, return_tensors="pt")
batch = batch.to(device)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
model.activation_checkpointing_enable(every_n_layers=2)
# --8<-- [end:enable]

runs: Counter[int] = Counter()
blocks = model.transformer.h
for number, block in enumerate(blocks):
    block.ln_1.register_forward_pre_hook(lambda *_, n=number: runs.update([n]))
model(**batch, labels=batch["input_ids"]).loss.backward()

print("runs of each block in one step:", [runs[n] for n in range(len(blocks))])
assert [runs[n] for n in range(len(blocks))] == [2, 1] * (len(blocks) // 2)


# The forward pass leaves less than without checkpoints and more than with all of them.
def left_by_forward(model):
    """Bytes that the forward pass has allocated and not freed, and the gradients."""
    torch.manual_seed(0)  # the same dropout for each
    with profile(profile_memory=True) as trace:
        loss = model(**batch, labels=batch["input_ids"]).loss
    model.zero_grad()
    loss.backward()
    rows = trace.key_averages()
    left = sum(r.self_cpu_memory_usage + r.self_device_memory_usage for r in rows)
    return left, [p.grad for p in model.parameters()]


plain, full = (
    AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    for _ in range(2)
)
full.activation_checkpointing_enable()
half, gradients = left_by_forward(model)
everything, expected = left_by_forward(plain.to(device).train())
least, _ = left_by_forward(full.to(device).train())
middle = (least + everything) / 2
assert abs(half - middle) < 0.1 * middle, (
    f"{half} bytes, between {least} and {everything}"
)
for one, other in zip(gradients, expected, strict=True):
    assert other.any(), "a gradient is 0"
    assert torch.allclose(one, other, rtol=1e-3, atol=1e-6), (
        "a gradient is another one"
    )

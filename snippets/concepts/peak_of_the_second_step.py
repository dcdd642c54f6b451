# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)" = "optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)" }
# ///
"""The optimizer's states are made at the end of the first step, so the peak of the second is higher from its start."""

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Weigh it twice."] * 4, return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)


# --8<-- [start:weigh]
def step() -> None:
    model(**batch, labels=batch["input_ids"]).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def held_after() -> int:
    """Bytes that a step leaves behind."""
    with profile(profile_memory=True) as trace:
        step()
    rows = trace.key_averages()
    return sum(r.self_cpu_memory_usage + r.self_device_memory_usage for r in rows)


first, second = held_after(), held_after()
print(f"the first step left {first / 2**20:.1f} MiB, the second {second}")
# --8<-- [end:weigh]

trained = sum(weight.numel() for weight in model.parameters())
assert first >= 8 * trained, (
    f"only {first / trained:.1f} bytes a parameter were left"
)
assert abs(second) < trained, "the second step leaves something, too"

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)" = "optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)" }
# ///
"""The optimizer's states are made at the end of the first step, so where activations are the peak, the second is higher by them."""

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Weigh it twice. " * 40] * 8, return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)


def step() -> None:
    model(**batch, labels=batch["input_ids"]).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


# --8<-- [start:on-a-gpu]
def peak_on_gpu(step) -> int:
    """Bytes at the worst moment of a step."""
    torch.cuda.reset_peak_memory_stats()
    step()
    return torch.cuda.max_memory_allocated()


# --8<-- [end:on-a-gpu]


# --8<-- [start:on-a-cpu]
def peaks_on_cpu(step, times: int) -> list[int]:
    """Bytes at the worst moment of each step, beyond what was there before."""
    with profile(profile_memory=True) as trace:
        for number in range(times):
            with torch.profiler.record_function(f"step {number}"):
                step()
    events = sorted(
        trace.profiler.kineto_results.events(), key=lambda e: e.start_ns()
    )
    starts = [e.start_ns() for e in events if e.name().startswith("step ")]
    held, peaks = 0, [0] * times
    for event in events:
        if event.name() == "[memory]":
            held += event.nbytes()
            number = sum(start <= event.start_ns() for start in starts) - 1
            peaks[number] = max(peaks[number], held)
    return peaks


# --8<-- [end:on-a-cpu]

if device == "cuda":
    first, second = peak_on_gpu(step), peak_on_gpu(step)
else:
    first, second = peaks_on_cpu(step, times=2)
print(f"first step {first / 2**20:.1f} MiB, second {second / 2**20:.1f} MiB")

# The proof: the two states of AdamW, 8 bytes a parameter, are what the second peak is higher by.
trained = sum(weight.numel() for weight in model.parameters())
more = (second - first) / trained
print(f"{more:.2f} bytes a parameter more, of {trained:,} parameters")
assert 7.5 < more < 8.5, f"{more:.2f} bytes a parameter more"

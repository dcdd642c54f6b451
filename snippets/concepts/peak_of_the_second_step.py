# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)" = "optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)" }
# ///
"""AdamW makes its states at the end of the first step. So where activations are the peak, the peak of the second step is higher by 8 bytes per parameter."""

from unittest.mock import patch

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
    torch.empty(2**31, dtype=torch.uint8, device=device)  # a peak of before
    first, second = peak_on_gpu(step), peak_on_gpu(step)
else:
    first, second = peaks_on_cpu(step, times=2)
    kept = []  # 1 KiB from each step, next to 4 KiB for a moment
    known = peaks_on_cpu(
        lambda: kept.append(torch.empty(2**10).narrow(0, 0, 256).clone()), times=2
    )
    assert known == [2**12 + 2**10, 2**12 + 2**11], known
print(f"first step {first / 2**20:.1f} MiB, second {second / 2**20:.1f} MiB")

# The proof: the second peak is higher by the two states of AdamW, 8 bytes per parameter.
trained = sum(weight.numel() for weight in model.parameters())
more = (second - first) / trained
print(f"{more:.2f} bytes per parameter more, of {trained:,} parameters")
assert 7.5 < more < 8.5, f"{more:.2f} bytes per parameter more"


# The function for a GPU reads the peak of each step alone, on an allocator of which
# every byte is known.
class Allocator:
    """Counts bytes as torch's allocator does."""

    def __init__(self):
        self.held = self.peak = 0

    def step(self, needs, keeps):
        """Hold some bytes for a moment, and keep some of them."""
        self.peak = max(self.peak, self.held + needs)
        self.held += keeps

    def reset(self):
        """Forget earlier peaks."""
        self.peak = self.held


card = Allocator()
card.step(needs=1000, keeps=4)  # a peak of before
with patch.multiple(
    torch.cuda,
    reset_peak_memory_stats=card.reset,
    max_memory_allocated=lambda: card.peak,
):
    peaks = [peak_on_gpu(lambda: card.step(needs=100, keeps=8)) for _ in range(2)]
    peaks.append(peak_on_gpu(lambda: card.step(needs=50, keeps=0)))
assert peaks == [104, 112, 70], f"the steps' peaks were read as {peaks}"

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "return 6 * parameters" = "return 2 * parameters" }
# ///
"""The FLOPs of a training step, computed from the model's configuration, are those that PyTorch counts."""

from itertools import count
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForCausalLM

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
model = AutoModelForCausalLM.from_pretrained(
    checkpoint, dtype=torch.float32, attn_implementation="eager"
)
model = model.to(device).train()
batch = torch.randint(100, (2, 256), device=device)


def step() -> None:
    model(input_ids=batch, labels=batch).loss.backward()
    model.zero_grad()


# --8<-- [start:mfu]
def flops_per_token(model, length: int) -> float:
    """FLOPs of a forward and a backward pass, for models with a tied embedding."""
    config = model.config
    parameters = sum(p.numel() for p in model.parameters() if p.dim() == 2)
    attention = config.num_hidden_layers * config.hidden_size * length
    return 6 * parameters + 12 * attention


def mfu(
    model, tokens: int, length: int, seconds: float, peak: float = 989e12
) -> float:
    """Share of the GPU's peak in bf16 that a step uses. 989e12 is an H100 SXM."""
    return tokens * flops_per_token(model, length) / seconds / peak


for _ in range(2):  # the first step warms up
    start = perf_counter()
    step()
    if device == "cuda":
        torch.cuda.synchronize()
print(
    f"MFU: {mfu(model, batch.numel(), batch.shape[1], perf_counter() - start):.2%}"
)
# --8<-- [end:mfu]

with FlopCounterMode(display=False) as counter:
    step()
counted = counter.get_total_flops()
computed = batch.numel() * flops_per_token(model, batch.shape[1])
print(f"computed / counted by PyTorch: {computed / counted:.3f}")
assert 0.98 < computed / counted < 1.02, (
    f"{computed:.3e}, PyTorch counts {counted:.3e}"
)
an_h100 = computed / 989e12  # in one second
assert abs(mfu(model, batch.numel(), 256, 1.0) / an_h100 - 1) < 1e-9, "another peak"
assert mfu(model, 1, 256, 2.0) == mfu(model, 1, 256, 1.0) / 2, "time counts once"

# The shown lines as on a GPU, with a clock whose next reading is twice an H100's time later.
region = Path(__file__).read_text(encoding="utf-8").split("mfu]\n")[1]
clock, events, lines = count(0, 2 * an_h100), [], []


def reading() -> float:
    events.append("clock")
    return next(clock)


with patch("torch.cuda.synchronize", lambda: events.append("wait")):
    exec(  # noqa: S102 - this script's own lines
        region,
        globals()
        | {
            "device": "cuda",
            "step": lambda: events.append("step"),
            "perf_counter": reading,
            "print": lines.append,
        },
    )
assert lines == ["MFU: 50.00%"], lines
assert events == ["clock", "step", "wait"] * 2 + ["clock"], (
    f"a step is timed with the one before it: {events}"
)

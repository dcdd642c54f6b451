# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# needs = ["avx512_bf16"]
# timeout = 120
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "enabled=fast_bf16" = "enabled=False" }
# ///
# ruff: noqa: E402
"""A complete training script for one CPU: its cores as threads, bf16 matmuls where it has the instructions, fp32 weights, a fused AdamW."""

# --8<-- [start:enable]
import os

import torch
from transformers import AutoModelForCausalLM

torch.set_num_threads(len(os.sched_getaffinity(0)))  # see "Threads" below
has = torch.cpu.get_capabilities()
fast_bf16 = bool(has.get("avx512_bf16") or has.get("amx_bf16"))

torch.manual_seed(0)
model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.float32
)
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
rows = torch.randint(3, 500, (8, 64))  # your tokenized data set
loader = torch.utils.data.DataLoader(rows, batch_size=4, shuffle=True)


def train(epochs):
    """Train, and return the loss per step."""
    losses = []
    for _ in range(epochs):
        for batch in loader:
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=fast_bf16):
                loss = model(input_ids=batch, labels=batch, use_cache=False).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return losses


# --8<-- [end:enable]
from collections import Counter
from unittest.mock import patch

from torch.utils._python_dispatch import TorchDispatchMode


class Operations(TorchDispatchMode):
    """Count matmuls by the type of their inputs, and the fused optimizer steps."""

    def __init__(self):
        super().__init__()
        self.matmuls, self.fused = Counter(), 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
            self.matmuls[args[-1].dtype] += 1
        self.fused += func.name().startswith("aten::_fused_adamw")
        return func(*args, **(kwargs or {}))


wrapped = torch.nn.utils.clip_grad_norm_
with (
    Operations() as seen,
    patch("torch.nn.utils.clip_grad_norm_", wraps=wrapped) as clip,
):
    losses = train(epochs=1)
assert [call.args[1] for call in clip.call_args_list] == [1.0] * len(loader)
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
losses = train(epochs=4)
print(f"bf16: {fast_bf16}, loss {losses[0]:.2f} -> {losses[-1]:.2f}")
model.save_pretrained("trained")
# --8<-- [end:is-it-on]

# The proof: as many threads as cores, bf16 matmuls alone, fp32 weights, one fused update per step, and a model that learns and loads.
assert torch.get_num_threads() == len(os.sched_getaffinity(0))
assert fast_bf16
assert set(seen.matmuls) == {torch.bfloat16}, f"matmuls took {seen.matmuls}"
assert seen.fused == len(loader)
assert {p.dtype for p in model.parameters()} == {torch.float32}
assert losses[-1] < losses[0] - 0.3, losses
shown = f"bf16: True, loss {losses[0]:.2f} -> {losses[-1]:.2f}"
assert printed.call_args_list[0].args == (shown,), f"not {shown}"
again = AutoModelForCausalLM.from_pretrained("trained")
pairs = zip(model.parameters(), again.parameters(), strict=True)
assert all(ours.equal(theirs) for ours, theirs in pairs)

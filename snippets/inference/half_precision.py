# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "dtype=torch.bfloat16" = "dtype=torch.float32" }
# ///
"""Inference in bf16 holds 2 bytes per parameter. Autocast keeps the fp32 weights and a bf16 copy of them: 6 bytes."""

import torch
from transformers import AutoModelForCausalLM

checkpoint = "HuggingFaceTB/SmolLM2-135M"
ids = torch.arange(32)[None]

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
# --8<-- [end:enable]
parameters = sum(p.numel() for p in model.parameters())
held = sum(p.nbytes for p in model.parameters())
print(f"{held / parameters:.0f} bytes per parameter")
assert held == 2 * parameters, (held, parameters)
types = {p.dtype for p in model.parameters()}
assert types == {torch.bfloat16}, types

# Autocast copies each weight to bf16 at its first use, and keeps the copy until the context ends.
whole = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)


def copied(model, *, cache: bool, passes: int = 1) -> float:
    """Return the bytes that autocast copies to bf16 per weight of a linear layer."""
    weights = {
        p.shape for m in model.modules() for p in m.parameters(recurse=False)
    }
    linear = sum(
        m.weight.numel() for m in model.modules() if isinstance(m, torch.nn.Linear)
    )
    total = 0

    class Count(torch.utils._python_dispatch.TorchDispatchMode):  # noqa: SLF001
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            nonlocal total
            result = function(*args, **(kwargs or {}))
            copy = function is torch.ops.aten._to_copy.default  # noqa: SLF001
            if copy and args[0].shape in weights and args[0].requires_grad:
                total += result.nbytes
            return result

    with (
        Count(),
        torch.autocast("cpu", torch.bfloat16, cache_enabled=cache),
    ):
        for _ in range(passes):
            model(ids)
    return total / linear


once, twice = copied(whole, cache=True), copied(whole, cache=True, passes=2)
without = copied(whole, cache=False, passes=2)
print(
    f"autocast copies {once:.1f} bytes per linear weight, and {twice:.1f} in 2 passes"
)
assert once == twice == 2.0, (once, twice)
assert without == 4.0, without

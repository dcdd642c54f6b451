# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "dtype=torch.bfloat16" = "dtype=torch.float32" }
# ///
"""Inference in bf16 holds 2 bytes per parameter. Autocast keeps the fp32 weights and, outside of inference mode, a bf16 copy of them: 6 bytes."""

import torch
from transformers import AutoModelForCausalLM

# Stored in fp32, as some checkpoints are: the type comes from the call.
whole = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.float32
)
checkpoint = "stored-in-fp32"
whole.save_pretrained(checkpoint)
stored = AutoModelForCausalLM.from_pretrained(checkpoint)
assert stored.dtype == torch.float32, stored.dtype
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
# In inference mode, it keeps none.


def copied(model, *, cache: bool, passes: int = 1, mode=torch.enable_grad) -> float:
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
            # In inference mode, a cast arrives here as aten::to.
            casts = (torch.ops.aten._to_copy.default, torch.ops.aten.to.dtype)  # noqa: SLF001
            copy = function in casts
            if copy and args[0].shape in weights and args[0].requires_grad:
                total += result.nbytes
            return result

    with (
        mode(),
        Count(),
        torch.autocast("cpu", torch.bfloat16, cache_enabled=cache),
    ):
        for _ in range(passes):
            model(ids)
    return total / linear


once, twice = copied(whole, cache=True), copied(whole, cache=True, passes=2)
without = copied(whole, cache=False, passes=2)
no_grad = copied(whole, cache=True, passes=2, mode=torch.no_grad)
inference = copied(whole, cache=True, passes=2, mode=torch.inference_mode)
print(
    f"autocast copies {once:.1f} bytes per linear weight, and {twice:.1f} in 2 passes; "
    f"{no_grad:.1f} under no_grad, {inference:.1f} under inference_mode"
)
assert once == twice == no_grad == 2.0, (once, twice, no_grad)
assert without == inference == 4.0, (without, inference)

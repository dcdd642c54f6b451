# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "numpy>=2.4"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "torch.as_tensor(weights.astype(np.float32))" = "torch.as_tensor(weights)" }
# ///
"""A dispatch mode on a CPU lists each operation of a training step that makes a float64 tensor, which MPS does not have."""

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM

checkpoint = "HuggingFaceTB/SmolLM2-135M"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
tokens = torch.arange(32).reshape(1, 32)
weights = np.linspace(0.5, 1.5, 31)  # numpy's numbers are float64


# --8<-- [start:find]
class FindFloat64(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.found = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(tensor, torch.Tensor) and tensor.dtype == torch.float64:
                self.found.add(str(function))
        return result


# --8<-- [end:find]
# --8<-- [start:enable]
def weighted_loss(model, tokens):
    logits = model(input_ids=tokens).logits[:, :-1].flatten(0, 1)
    losses = torch.nn.functional.cross_entropy(
        logits, tokens[:, 1:].flatten(), reduction="none"
    )
    return (losses * torch.as_tensor(weights.astype(np.float32))).mean()


with FindFloat64() as step:
    weighted_loss(model, tokens).backward()
# --8<-- [end:enable]
with FindFloat64() as control:
    torch.as_tensor(weights) * torch.ones(31)
with FindFloat64() as several:  # an operation with two results
    torch.as_tensor(weights).max(dim=0)
print(
    f"in the step: {sorted(step.found) or 'none'}; in the control: {sorted(control.found)}"
)
assert "aten.mul.Tensor" in control.found, f"the mode finds {control.found}"
assert "aten.max.dim" in several.found, f"the mode finds {several.found}"
assert all(p.grad is not None for p in model.parameters())
logits = model(input_ids=tokens).logits[0, :-1]
each = torch.nn.functional.cross_entropy(logits, tokens[0, 1:], reduction="none")
expected = (each.double() * torch.as_tensor(weights)).mean()
assert abs(weighted_loss(model, tokens) - expected) < 1e-4, "another loss"
assert not step.found, f"float64 in {sorted(step.found)}"

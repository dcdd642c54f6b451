# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "torchao>=0.18"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "quantize_(model.model, Int8DynamicActivationInt8WeightConfig())" = "pass" }
# ///
"""int8 weights and activations with torchao on a CPU: the matmuls of the layers run in int8, and the LM head stays in bf16."""

import copy
from collections import Counter

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torchao.quantization import Int8DynamicActivationInt8WeightConfig, quantize_
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.bfloat16
)
original = copy.deepcopy(model)

# --8<-- [start:enable]
quantize_(model.model, Int8DynamicActivationInt8WeightConfig())
# --8<-- [end:enable]


class Matmuls(TorchDispatchMode):
    """Count matmuls by the data type of their first input."""

    def __init__(self) -> None:
        """Begin at zero."""
        super().__init__()
        self.counts = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket.__name__ in ("_int_mm", "mm", "addmm", "bmm"):
            self.counts[args[0].dtype] += 1
        return func(*args, **(kwargs or {}))


tokens = torch.arange(32)[None]
with torch.inference_mode(), Matmuls() as found:
    logits = model(input_ids=tokens).logits
with torch.inference_mode(), Matmuls() as before:
    expected = original(input_ids=tokens).logits
print(f"matmuls: {dict(found.counts)}; before: {dict(before.counts)}")

linear = [m for m in model.model.modules() if isinstance(m, torch.nn.Linear)]
# VNNI multiplies uint8 by int8, AMX int8 by int8: the inputs have the type of the CPU's instruction.
integers = found.counts[torch.int8] + found.counts[torch.uint8]
assert integers == len(linear) > 0, found.counts
assert before.counts[torch.int8] == 0, before.counts
assert model.lm_head.weight.dtype == torch.bfloat16
error = (logits - expected).float().norm() / expected.float().norm()
print(f"relative difference of the logits: {error:.3f}")
assert 0 < error < 0.1, error

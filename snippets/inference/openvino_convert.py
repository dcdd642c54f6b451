# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6", "openvino>=2026.4", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "onnx"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 180
# ablation = { "converted, \"CPU\", settings" = "converted, \"CPU\", {}" }
# ///
"""OpenVINO computes in bf16 where the CPU has it, also for a model in fp32. INFERENCE_PRECISION_HINT keeps fp32, and EXECUTION_MODE_HINT the model's own types."""

import warnings

import numpy as np
import openvino
import torch
from transformers import AutoModelForCausalLM

# torch.export copies a class that it deprecates itself.
warnings.filterwarnings("ignore", category=FutureWarning, module="copyreg")

model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.float32
).eval()


class Logits(torch.nn.Module):
    """A model that takes one tensor and returns one."""

    def __init__(self, model):
        """Wrap a causal language model."""
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        """Return the logits of every token."""
        return self.model(input_ids=input_ids, use_cache=False).logits


tokens = torch.arange(2 * 32).reshape(2, 32)
# --8<-- [start:enable]
sizes = (torch.export.Dim("batch"), torch.export.Dim("length"))
exported = torch.export.export(Logits(model), (tokens,), dynamic_shapes=[sizes])
converted = openvino.convert_model(exported)
settings = {
    "INFERENCE_PRECISION_HINT": "f32",  # no bf16, also where the CPU has it
    "EXECUTION_MODE_HINT": "ACCURACY",  # keep the model's own types
}
compiled = openvino.compile_model(converted, "CPU", settings)
logits = compiled([tokens.numpy()])[0]
# --8<-- [end:enable]

with torch.inference_mode():
    expected = model(input_ids=tokens).logits.numpy()
difference = abs(logits - expected).max() / abs(expected).max()
other = np.arange(3 * 20).reshape(3, 20)  # a shape that the export did not see
assert compiled([other])[0].shape[:2] == (3, 20)
default = openvino.compile_model(converted, "CPU")
precision = default.get_property("INFERENCE_PRECISION_HINT").get_type_name()
print(
    f"default precision: {precision}; relative difference in f32: {difference:.0e}"
)
assert difference < 1e-4, difference
modes = [
    each.get_property("EXECUTION_MODE_HINT").name for each in (compiled, default)
]
assert settings["INFERENCE_PRECISION_HINT"] == "f32", settings
assert modes == ["ACCURACY", "PERFORMANCE"], modes
has = torch.cpu.get_capabilities()
fast_bf16 = has.get("avx512_bf16", False) or has.get("amx_bf16", False)
assert precision == ("bf16" if fast_bf16 else "f32"), precision
# Without the hint, the logits differ by rounding to bf16 where bf16 is the default.
rounded = abs(default([tokens.numpy()])[0] - expected).max() / abs(expected).max()
assert (rounded > 1e-3) == fast_bf16, rounded

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "bitsandbytes>=0.50"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "load_in_8bit=True" = "load_in_8bit=False" }
# ///
"""bitsandbytes int8: one byte per weight, one fp32 scale per row, and columns of large inputs computed in 16 bits."""

import torch
from bitsandbytes.nn import Linear8bitLt
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M",
    quantization_config=BitsAndBytesConfig(
        load_in_8bit=True,
        llm_int8_threshold=6.0,  # 0.0 leaves out the search for large inputs
    ),
)
# --8<-- [end:enable]

layers = [m for m in model.modules() if isinstance(m, Linear8bitLt)]
stored = sum(m.weight.nbytes for m in layers)
elements = sum(m.in_features * m.out_features for m in layers)
print(f"{len(layers)} layers, {stored / max(elements, 1):.2f} bytes per weight")
assert len(layers) == 7 * model.config.num_hidden_layers, len(layers)
assert stored == elements, (stored, elements)
assert all(m.weight.dtype == torch.int8 for m in layers)
assert all(m.state.threshold == 6.0 for m in layers)
scales = {
    (m.weight.SCB.dtype, m.weight.SCB.numel() - m.out_features) for m in layers
}
assert scales == {(torch.float32, 0)}, scales
# With a large column of inputs, the search for it brings the outputs nearer to those of the expanded weights.
layer = layers[0]
weights = layer.weight.float() * layer.weight.SCB[:, None] / 127
torch.manual_seed(0)
inputs = torch.randn(16, layer.in_features).to(layer.weight.device)
inputs[:, 3] *= 100
errors = []
for threshold in (6.0, 0.0):
    layer.state.threshold = threshold
    with torch.no_grad():
        outputs = layer(inputs.to(model.dtype)).float()
    errors.append((outputs - inputs @ weights.T).norm().item())
print(f"error with and without the search: {errors[0]:.2f}, {errors[1]:.2f}")
assert errors[0] < errors[1] / 4, errors

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

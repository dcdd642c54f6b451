# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "torchao>=0.18"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "quantization_config=TorchAoConfig(Int8WeightOnlyConfig())," = "" }
# ///
"""torchao int8 weights: one byte per weight and a scale per row. get_memory_footprint() still reports the size in 16 bits."""

from unittest.mock import patch

import torch
from torchao.quantization import Int8WeightOnlyConfig
from transformers import AutoModelForCausalLM, TorchAoConfig

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M",
    quantization_config=TorchAoConfig(Int8WeightOnlyConfig()),
)
# --8<-- [end:enable]


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def stored_bytes(tensor: torch.Tensor) -> int:
    """Return the bytes of a tensor, or of the tensors that a quantized one consists of."""
    if not hasattr(tensor, "__tensor_flatten__"):
        return tensor.nbytes
    names, _ = tensor.__tensor_flatten__()
    return sum(stored_bytes(getattr(tensor, name)) for name in names)


linear = [m for m in model.model.modules() if isinstance(m, torch.nn.Linear)]
elements = sum(m.weight.numel() for m in linear)
stored = sum(stored_bytes(m.weight) for m in linear)
print(f"{stored / elements:.3f} bytes per weight in {len(linear)} layers")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]
footprint = model.get_memory_footprint()
real = sum(stored_bytes(p) for p in model.parameters())
print(f"get_memory_footprint() {footprint:,}, stored {real:,}")

rows = sum(m.weight.shape[0] for m in linear)
scale = (stored - elements) / rows
assert scale == 5, f"{scale} bytes per row"  # an fp32 scale and an int8 zero point
each = (elements + 5 * rows) / elements
layers = 7 * model.config.num_hidden_layers
assert shown == f"{each:.3f} bytes per weight in {layers} layers", shown
assert model.lm_head.weight.dtype == torch.bfloat16
assert footprint > 1.2 * real, (footprint, real)

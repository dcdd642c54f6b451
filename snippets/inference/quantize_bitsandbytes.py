# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "bitsandbytes>=0.50"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { ", quantization_config=quantization" = "" }
# ///
"""bitsandbytes NF4: four bits per weight and one fp32 scale per 64 weights. get_memory_footprint() leaves the scales out."""

from unittest.mock import patch

import torch
from bitsandbytes.nn import Linear4bit
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

# --8<-- [start:enable]
quantization = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_quant_type="nf4",
    bnb_4bit_compute_dtype=torch.bfloat16,
)
model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", quantization_config=quantization
)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
layers = [m for m in model.modules() if isinstance(m, Linear4bit)]
weights = sum(m.weight.nbytes for m in layers)
scales = sum(m.weight.quant_state.absmax.nbytes for m in layers)
print(f"{len(layers)} layers in 4 bits, {weights:,} bytes and {scales:,} of scales")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert len(layers) == 7 * model.config.num_hidden_layers, len(layers)
elements = sum(m.in_features * m.out_features for m in layers)
assert weights == elements // 2, (weights, elements)
assert scales == elements // 64 * 4, (scales, elements)
expected = f"{len(layers)} layers in 4 bits, {elements // 2:,} bytes and"
assert shown == f"{expected} {elements // 16:,} of scales", f"printed was {shown}"
assert {m.weight.quant_state.quant_type for m in layers} == {"nf4"}
assert {m.compute_dtype for m in layers} == {torch.bfloat16}
# The LM head and the embedding stay in 16 bits.
assert model.lm_head.weight.dtype == torch.bfloat16
footprint = model.get_memory_footprint()
rest = sum(p.nbytes for p in model.parameters() if p.dtype == torch.bfloat16)
assert footprint < rest + weights + scales, "the footprint has the scales"

# The quantized model computes: logits of finite numbers, near those of the whole one and not equal to them.
whole = AutoModelForCausalLM.from_pretrained("HuggingFaceTB/SmolLM2-135M")
ids = torch.arange(16)[None]
with torch.no_grad():
    exact, rounded = whole(ids).logits.float(), model(ids).logits.float()
error = ((exact - rounded).norm() / exact.norm()).item()
print(f"relative error of the logits: {error:.2f}")
assert 0 < error < 1, error

# For a GPU without bf16: the compute type concerns the 4-bit layers alone, and dtype the others.
in_fp32 = BitsAndBytesConfig(
    load_in_4bit=True, bnb_4bit_compute_dtype=torch.float32
)
for dtype in (torch.bfloat16, torch.float32):
    other = AutoModelForCausalLM.from_pretrained(
        "HuggingFaceTB/SmolLM2-135M", quantization_config=in_fp32, dtype=dtype
    )
    with torch.no_grad():
        assert other(ids).logits.dtype == dtype, dtype
    assert {p.dtype for p in other.parameters()} == {torch.uint8, dtype}, dtype

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "bitsandbytes>=0.50"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'keep = ["lm_head", ' = "keep = [" }
# ///
"""Keep some layers in 16 bits: a list replaces the default, so name the LM head too, or it is quantized with the rest."""

from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

checkpoint = "HuggingFaceTB/SmolLM2-135M"

# --8<-- [start:enable]
keep = ["lm_head", "model.layers.0"]
config = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_quant_type="nf4",
    bnb_4bit_compute_dtype=torch.bfloat16,
    llm_int8_skip_modules=keep,
)
model = AutoModelForCausalLM.from_pretrained(
    checkpoint, quantization_config=config, dtype=torch.bfloat16
)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
kinds = {
    name: type(module).__name__
    for name, module in model.named_modules()
    if "Linear" in type(module).__name__
}
print({kind: list(kinds.values()).count(kind) for kind in set(kinds.values())})
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert kinds["lm_head"] == "Linear", kinds["lm_head"]
first = {kind for name, kind in kinds.items() if name.startswith("model.layers.0.")}
others = {
    kind for name, kind in kinds.items() if name.startswith("model.layers.1.")
}
assert first == {"Linear"}, first
assert others == {"Linear4bit"}, others
kept = [model.lm_head, *model.model.layers[0].modules()]
types = {each.weight.dtype for each in kept if hasattr(each, "weight")}
assert types == {torch.bfloat16}, f"kept layers are {types}"
state = model.model.layers[1].mlp.up_proj.weight.quant_state
assert (state.quant_type, state.dtype) == ("nf4", torch.bfloat16), state.quant_type
computed = model.model.layers[1].mlp.up_proj.compute_dtype
assert computed == torch.bfloat16, f"matmuls are {computed}"
# Seven layers per block: those of block 0 and the LM head are in 16 bits.
quantized = 7 * (model.config.num_hidden_layers - 1)
assert shown == {"Linear4bit": quantized, "Linear": 8}, f"printed was {shown}"

# Without a list, the LM head stays in 16 bits by itself.
config.llm_int8_skip_modules = None
usual = AutoModelForCausalLM.from_pretrained(
    checkpoint, quantization_config=config, dtype=torch.bfloat16
)
assert type(usual.lm_head).__name__ == "Linear", type(usual.lm_head)
assert type(usual.model.layers[0].mlp.up_proj).__name__ == "Linear4bit"

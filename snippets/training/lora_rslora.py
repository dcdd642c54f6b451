# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "    use_rslora=True,\n" = "" }
# ///
"""LoRA multiplies its update by alpha / r, so a higher rank shrinks it. rsLoRA multiplies by alpha / sqrt(r)."""

import warnings
from unittest.mock import patch

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

checkpoint = "HuggingFaceTB/SmolLM2-135M"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)

# --8<-- [start:enable]
adapter = LoraConfig(
    r=64,
    lora_alpha=16,
    use_rslora=True,
    target_modules="all-linear",
    task_type="CAUSAL_LM",
)
model = get_peft_model(model, adapter)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
layer = model.get_base_model().model.layers[0].self_attn.q_proj
print(f"the update is multiplied by {layer.scaling['default']}")
# on: 2.0, off: 0.25
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert layer.scaling["default"] == 16 / 64**0.5, layer.scaling
assert shown == "the update is multiplied by 2.0", f"printed was {shown}"

# It trains as many parameters as LoRA of the same rank, in every linear layer of the blocks.
blocks = model.get_base_model().model.layers
adapted = [m for m in blocks.modules() if hasattr(m, "lora_A")]
assert len(adapted) == 7 * len(blocks), f"{len(adapted)} layers have an adapter"
lora = get_peft_model(
    AutoModelForCausalLM.from_pretrained(checkpoint),
    LoraConfig(r=64, target_modules="all-linear", task_type="CAUSAL_LM"),
)
trained = [each.get_nb_trainable_parameters()[0] for each in (model, lora)]
assert trained[0] == trained[1], f"{trained} parameters are trained"

# The proof: the layer's output changes by this factor times the product of the adapter's matrices.
torch.manual_seed(0)
down, up = layer.lora_A["default"], layer.lora_B["default"]
inputs = torch.randn(8, layer.in_features)
before = layer(inputs)
assert torch.equal(before, layer.base_layer(inputs)), (
    "it does not begin at the model"
)
with torch.no_grad():
    up.weight.normal_()
change = layer(inputs) - before
assert torch.allclose(change, 2 * up(down(inputs)), atol=1e-4), "another factor"


# At alpha 16, the factor of LoRA falls by 4 from rank 16 to 64, and that of rsLoRA by 2.
def factor(rank, *, rslora):
    plain = AutoModelForCausalLM.from_pretrained(checkpoint)
    config = LoraConfig(
        r=rank, lora_alpha=16, use_rslora=rslora, target_modules=["q_proj"]
    )
    adapted = get_peft_model(plain, config).get_base_model()
    return adapted.model.layers[0].self_attn.q_proj.scaling["default"]


assert factor(16, rslora=False) / factor(64, rslora=False) == 4
assert factor(16, rslora=True) / factor(64, rslora=True) == 2

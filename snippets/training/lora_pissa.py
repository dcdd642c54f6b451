# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "    init_lora_weights=\"pissa\",\n" = "" }
# ///
"""PiSSA begins its adapters at the largest singular values of each weight and freezes the rest, so the model begins unchanged and both matrices get a gradient at once."""

import warnings
from unittest.mock import patch

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Where does an adapter begin?"], return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).eval()
whole = model.model.layers[0].self_attn.q_proj.weight.detach().clone()
with torch.no_grad():
    expected = model(**batch).logits

# --8<-- [start:enable]
adapter = LoraConfig(
    r=16,
    init_lora_weights="pissa",
    target_modules="all-linear",
    task_type="CAUSAL_LM",
)
model = get_peft_model(model, adapter)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
layer = model.get_base_model().model.layers[0].self_attn.q_proj
moved = (layer.base_layer.weight - whole).norm() / whole.norm()
print(f"the frozen weight has changed by {moved:.0%}")  # LoRA: 0%
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

# The proof: base and adapter add up to the weight, and the adapter holds its 16 largest singular values.
assert moved > 0.01, "the frozen weight is the model's"
assert torch.allclose(
    layer.base_layer.weight + layer.get_delta_weight("default"), whole, atol=1e-4
), "base and adapter do not add up to the weight"
singular = torch.linalg.svdvals(whole)
share = (singular[:16].norm() / singular.norm()).item()  # the adapter's
assert shown == f"the frozen weight has changed by {share:.0%}", (
    f"printed was {shown}"
)
held = torch.linalg.svdvals(layer.get_delta_weight("default").detach())[:16]
left = torch.linalg.svdvals(layer.base_layer.weight.detach())[:16]
assert torch.allclose(held, singular[:16], rtol=1e-3), "not the largest values"
assert torch.allclose(left, singular[16:32], rtol=1e-3), (
    "they are still in the base"
)
adapted = [m for m in model.modules() if hasattr(m, "lora_A")]
assert len(adapted) == 7 * model.config.num_hidden_layers, "not all linear layers"
with torch.no_grad():
    found = model(**batch).logits
assert torch.allclose(found, expected, atol=1e-3), "it does not begin at the model"

model(**batch, labels=batch["input_ids"]).loss.backward()
down, up = layer.lora_A["default"].weight, layer.lora_B["default"].weight
assert down.grad.any(), "the first matrix has no gradient in the first step"
assert up.grad.any(), "the second matrix has no gradient in the first step"

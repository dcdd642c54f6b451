# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "    use_dora=True,\n" = "" }
# ///
"""DoRA adds one trained magnitude per output of every adapted layer to LoRA's two matrices, and begins at the unchanged model."""

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
batch = tokenizer(["A direction and a magnitude."], return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).eval()
with torch.no_grad():
    expected = model(**batch).logits

# --8<-- [start:enable]
adapter = LoraConfig(
    r=16,
    use_dora=True,
    target_modules="all-linear",
    task_type="CAUSAL_LM",
)
model = get_peft_model(model, adapter)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
names = [name for name, p in model.named_parameters() if p.requires_grad]
magnitudes = [name for name in names if "magnitude" in name]
print(f"{len(magnitudes)} of {len(names)} trained tensors are magnitudes")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

adapted = [name for name in names if "lora_A" in name]
layers = model.config.num_hidden_layers
assert len(adapted) == 7 * layers, f"{len(adapted)} layers are adapted"
assert len(magnitudes) == len(adapted), (
    f"{len(magnitudes)} for {len(adapted)} layers"
)
each = len(adapted)
assert shown == f"{each} of {3 * each} trained tensors are magnitudes", shown
with torch.no_grad():
    found = model(**batch).logits
assert torch.allclose(found, expected, atol=1e-4), "it does not begin at the model"
before = {name: p.detach().clone() for name, p in model.named_parameters()}
optimizer = torch.optim.AdamW(p for p in model.parameters() if p.requires_grad)
model(**batch, labels=batch["input_ids"]).loss.backward()
optimizer.step()
for name, p in model.named_parameters():
    if name in magnitudes:
        assert not torch.equal(p, before[name]), f"{name} is not trained"
    elif name not in names:
        assert torch.equal(p, before[name]), f"{name} is not frozen"

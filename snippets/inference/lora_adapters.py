# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "adapter_names=names" = "adapter_names=names[:1] * 3" }
# ///
"""One base model and several LoRA adapters: rows of one batch use different adapters, or none, and give the tokens that each adapter gives alone. An adapter's weights are a small part of the model's."""

import warnings

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint, padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
base = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
torch.manual_seed(0)
# PEFT 0.21 asks for a property that transformers 5.24 has renamed.
warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
# Random adapters, in place of trained ones that are loaded with load_adapter().
config = LoraConfig(
    r=8, target_modules=["q_proj", "v_proj"], init_lora_weights=False, lora_alpha=64
)

# --8<-- [start:enable]
model = get_peft_model(base, config, adapter_name="legal")
model.add_adapter("support", config)
model.eval()

prompts = ["The licence permits", "My order has not", "Once upon a time there"]
names = ["legal", "support", "__base__"]  # the last row uses no adapter
inputs = tokenizer(prompts, padding=True, return_tensors="pt")
options = {"max_new_tokens": 12, "do_sample": False, "pad_token_id": 0}
output = model.generate(**inputs, adapter_names=names, **options)
# --8<-- [end:enable]

adapter = sum(p.nbytes for name, p in model.named_parameters() if ".legal." in name)
whole = sum(p.nbytes for name, p in model.named_parameters() if "lora_" not in name)
print(f"an adapter has {adapter / whole:.1%} of the bytes of the base model")

# The proof: each row has the tokens of its adapter alone, and the adapters differ on the same prompt.
assert sorted(names) == sorted(["__base__", *model.peft_config]), names
assert dict(zip(prompts, names, strict=True)) == {
    "The licence permits": "legal",
    "My order has not": "support",
    "Once upon a time there": "__base__",
}, "a prompt has another adapter"
width, rows = inputs["input_ids"].shape[1], []
for number, name in enumerate(names):
    alone = tokenizer(prompts[number], return_tensors="pt")
    if name == "__base__":
        with model.disable_adapter():
            wanted = model.generate(**alone, **options)
    else:
        model.set_adapter(name)
        wanted = model.generate(**alone, **options)
    new = wanted[0, alone["input_ids"].shape[1] :]
    assert torch.equal(output[number, width:], new), f"row {number}"
    model.set_adapter("legal" if name != "legal" else "support")
    other = model.generate(**alone, **options)
    rows.append(torch.equal(other, wanted))
assert not any(rows), "another adapter gives the same tokens"
assert adapter < 0.1 * whole

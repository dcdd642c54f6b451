# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "flash-attn>=2.8"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# needs = ["cuda", "bf16"]
# ablation = { "attn_implementation=\"flash_attention_2\"" = "attn_implementation=\"sdpa\"" }
# ///
"""With flash_attention_2, transformers takes padding out and calls the kernel of the flash_attn package for unequal lengths."""

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
texts = ["A short text.", "A text that is longer than the first one. " * 8]
batch = tokenizer(texts, padding=True, return_tensors="pt").to("cuda")
real = batch["attention_mask"].bool()
batch["labels"] = batch["input_ids"].masked_fill(~real, -100)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.bfloat16,  # or fp32 weights under autocast; never fp32 alone
    attn_implementation="flash_attention_2",
)
# --8<-- [end:enable]
model = model.to("cuda").train()

# --8<-- [start:is-it-on]
with profile() as trace:
    model(**batch).loss.backward()
names = {row.key for row in trace.key_averages()}
print([name for name in names if name.startswith("flash_attn::")])
# --8<-- [end:is-it-on]

# The proof: the kernel for unequal lengths ran, forward and backward, no kernel of
# SDPA did, and what the real tokens get is what they get from eager attention.
for pass_ in ("forward", "backward"):
    assert f"flash_attn::_flash_attn_varlen_{pass_}" in names, (
        f"the {pass_} kernel of flash_attn was not called"
    )
assert not any("scaled_dot_product" in name for name in names)
reference = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
reference.set_attn_implementation("eager")
reference = reference.to("cuda").train()
with torch.no_grad():
    ours, theirs = model(**batch).logits[real], reference(**batch).logits[real]
assert torch.allclose(ours, theirs, rtol=5e-2, atol=1e-1), (
    "the logits are not those of eager attention"
)

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "    prompt_lookup_num_tokens=5,\n" = "" }
# ///
"""Prompt lookup: drafts are copied from the text so far, without a draft model. The tokens are those of greedy decoding."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model.generation_config.do_sample = True  # as chat models have it
inputs = tokenizer("A list, a list, a list, a list,", return_tensors="pt")
passes = []
model.lm_head.register_forward_hook(lambda *call: passes.append(call[2].shape[1]))
usual = model.generate(**inputs, max_new_tokens=64, do_sample=False)
without = len(passes)
passes.clear()

# --8<-- [start:enable]
output = model.generate(
    **inputs,
    max_new_tokens=64,
    do_sample=False,
    prompt_lookup_num_tokens=5,
)
# --8<-- [end:enable]
print(f"{without} forward passes without, {len(passes)} with prompt lookup")

assert torch.equal(output, usual), "other tokens than greedy decoding"
assert without == 64, without
assert len(passes) < without / 2, len(passes)
assert max(passes) == 6, passes  # five drafts, and the token that follows them

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "    assistant_model=assistant,\n" = "" }
# ///
"""Assisted decoding: a small model drafts tokens, and the large one checks them in one forward pass. In fp32, the tokens are those of greedy decoding."""

import copy
import logging

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

# transformers itself passes the assistant both kinds of settings.
logging.getLogger("transformers.generation.utils").addFilter(
    lambda record: "together with generation-related" not in record.getMessage()
)

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
inputs = tokenizer("Speculative decoding", return_tensors="pt")
# A draft model that often agrees: the same one with noise on its weights. Load a small model of the family instead.
assistant = copy.deepcopy(model)
torch.manual_seed(0)
with torch.no_grad():
    for weight in assistant.parameters():
        weight.add_(0.02 * weight.std() * torch.randn_like(weight))
passes = []
model.lm_head.register_forward_hook(lambda *call: passes.append(call[2].shape[1]))

usual = model.generate(**inputs, max_new_tokens=48, do_sample=False)
without = len(passes)
passes.clear()

# --8<-- [start:enable]
assistant.generation_config.num_assistant_tokens = 5
assistant.generation_config.num_assistant_tokens_schedule = "constant"
assistant.generation_config.assistant_confidence_threshold = 0.0
output = model.generate(
    **inputs,
    max_new_tokens=48,
    do_sample=False,
    assistant_model=assistant,
)
# --8<-- [end:enable]
print(f"{without} forward passes without, {len(passes)} with the draft model")

new = output.shape[1] - inputs["input_ids"].shape[1]
assert torch.equal(output, usual), "other tokens than greedy decoding"
assert without == new == 48, (without, new)
assert len(passes) < without / 2, len(passes)
# Each pass but the last checks five drafts, and computes the token that follows them.
assert set(passes[:-1]) == {6}, passes

# A draft model that never agrees saves nothing: each pass of the large model yields one token.
with torch.no_grad():
    for weight in assistant.parameters():
        weight.copy_(torch.randn_like(weight))
passes.clear()
worst = model.generate(
    **inputs, max_new_tokens=48, do_sample=False, assistant_model=assistant
)
assert torch.equal(worst, usual)
print(f"{len(passes)} with a draft model of random weights")
assert len(passes) > 0.8 * without, len(passes)

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "assistant_early_exit=2" = "num_beams=1" }
# ///
"""Self-speculative decoding: the first layers draft, and all layers check. The tokens are those of greedy decoding."""

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
inputs = tokenizer("Early exit", return_tensors="pt")
first, last = [], []
model.model.layers[0].register_forward_hook(lambda *call: first.append(1))
model.model.layers[-1].register_forward_hook(lambda *call: last.append(1))
usual = model.generate(**inputs, max_new_tokens=16, do_sample=False)
assert len(first) == len(last) == 16, (len(first), len(last))
first.clear()
last.clear()

# --8<-- [start:enable]
output = model.generate(
    **inputs, max_new_tokens=16, do_sample=False, assistant_early_exit=2
)
# --8<-- [end:enable]
print(f"passes of the first layer: {len(first)}, of the last: {len(last)}")

assert torch.equal(output, usual), "other tokens than greedy decoding"
assert len(first) > len(last), "no draft left out the last layer"
assert len(last) <= 17, len(last)

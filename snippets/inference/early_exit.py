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
from collections import Counter

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
layers = model.model.layers
passes = Counter()
for number, layer in enumerate(layers):
    layer.register_forward_hook(lambda *_, number=number: passes.update([number]))
usual = model.generate(**inputs, max_new_tokens=16, do_sample=False)
assert passes == dict.fromkeys(range(len(layers)), 16), passes
passes.clear()

# --8<-- [start:enable]
output = model.generate(
    **inputs, max_new_tokens=16, do_sample=False, assistant_early_exit=2
)
# --8<-- [end:enable]
drafts, checks = passes[0], passes[len(layers) - 1]
print(f"passes of the first layer: {drafts}, of the last: {checks}")

assert torch.equal(output, usual), "other tokens than greedy decoding"
assert drafts > checks, "no draft left out the last layer"
assert checks <= 17, checks
draft = [number for number in passes if passes[number] == drafts]
assert draft == [0, 1], f"the layers {draft} draft"

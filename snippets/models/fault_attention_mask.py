# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { '**inputs' = 'inputs["input_ids"]' }
# ///
"""Without the attention mask, generate() reads padding as text and warns once: the shorter prompt continues differently. With the mask, it continues as it does alone."""

import logging

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

warned = []
logging.getLogger("transformers.generation.utils").addFilter(
    lambda record: warned.append(record.getMessage())
)

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint, padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
settings = {"max_new_tokens": 12, "do_sample": False}
inputs = tokenizer(
    ["Short.", "One two three four " * 8], padding=True, return_tensors="pt"
)

blind = model.generate(inputs["input_ids"], **settings)
print("\n".join(warned))
start = "The attention mask and the pad token id were not set"
assert sum(text.startswith(start) for text in warned) == 1, warned
assert any("pad token is same as eos token" in text for text in warned), warned

warned.clear()
# --8<-- [start:cure]
output = model.generate(**inputs, **settings, pad_token_id=tokenizer.pad_token_id)
# --8<-- [end:cure]
assert not warned, warned
assert output[0, 0] == tokenizer.eos_token_id, "the shorter prompt is not padded"
prompt = tokenizer("Short.", return_tensors="pt")
alone = model.generate(**prompt, **settings, pad_token_id=tokenizer.pad_token_id)
assert torch.equal(output[0, -12:], alone[0, -12:]), "the mask was not used"
assert not torch.equal(blind[0, -12:], alone[0, -12:]), "the mask changes nothing"

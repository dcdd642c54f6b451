# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'tokenizer.padding_side = "left"' = 'tokenizer.padding_side = "right"' }
# ///
"""Prompts of different lengths in one batch: with padding on the left and the mask, each row gives the tokens that it gives alone."""

import logging
from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model.generation_config.do_sample = True  # as chat models have it
prompts = [
    "Short.",
    "A prompt of a few more words than that.",
    "One two three four " * 8,
]
logger = logging.getLogger("transformers.generation.utils")
warned = patch.object(logger, "warning", wraps=logger.warning).start()

# --8<-- [start:enable]
tokenizer.padding_side = "left"
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
inputs = tokenizer(prompts, padding=True, return_tensors="pt")
output = model.generate(
    **inputs,  # with attention_mask
    max_new_tokens=12,
    do_sample=False,
    pad_token_id=tokenizer.pad_token_id,
)
new = output[:, inputs["input_ids"].shape[1] :]
# --8<-- [end:enable]
warnings = warned.call_args_list.copy()

same = 0
for prompt, row in zip(prompts, new, strict=True):
    alone = tokenizer(prompt, return_tensors="pt")
    wanted = model.generate(**alone, max_new_tokens=12, do_sample=False)
    same += (wanted[0, alone["input_ids"].shape[1] :] == row).sum().item()
print(f"{same} of {new.numel()} tokens as in batches of one")
assert same == new.numel() == 36, f"{same} of {new.numel()} tokens"
assert warnings == [], f"generate() warns: {warnings}"

# Without the mask, the padding is read as text: the shorter rows change.
blind = model.generate(
    inputs["input_ids"],
    attention_mask=torch.ones_like(inputs["attention_mask"]),
    max_new_tokens=12,
    do_sample=False,
    pad_token_id=tokenizer.pad_token_id,
)
assert not torch.equal(blind, output), "the mask changed nothing"

# Without mask and pad_token_id, generate() warns.
model.generate(inputs["input_ids"], max_new_tokens=1)
expected = "The attention mask and the pad token id were not set"
assert expected in str(warned.call_args_list), f"warnings: {warned.call_args_list}"

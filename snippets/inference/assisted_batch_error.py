# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { '[speculate([prompt]) for prompt in prompts]' = '[speculate(prompts)]' }
# ///
"""Assisted generation takes one prompt at a time: with two, generate() raises a ValueError."""

import logging

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

# transformers itself passes the assistant both kinds of settings.
logging.getLogger("transformers.generation.utils").addFilter(
    lambda record: "together with generation-related" not in record.getMessage()
)

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
prompts = ["One prompt.", "Another prompt."]
asked = []


def speculate(texts: list[str]) -> str | None:
    """Return the error of assisted generation, if there is one."""
    asked.append(texts)
    inputs = tokenizer(texts, return_tensors="pt", padding=True)
    try:
        model.generate(
            **inputs, max_new_tokens=4, do_sample=False, assistant_model=model
        )
    except ValueError as error:
        return str(error)
    return None


# --8<-- [start:enable]
errors = [speculate([prompt]) for prompt in prompts]
# --8<-- [end:enable]
assert errors == [None, None], errors
assert asked == [["One prompt."], ["Another prompt."]], asked
error = speculate(prompts)
print(error)
assert "only supported for batch_size = 1" in error, error

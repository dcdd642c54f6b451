# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2", "HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'limit - new_tokens' = 'limit' }
# ///
"""Learned positions end with an IndexError; rotary positions go on without an error beyond the length in the configuration. Truncate the prompt to the limit less the new tokens."""

import logging

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

warned = []
logging.getLogger("transformers.generation.stopping_criteria").addFilter(
    lambda record: warned.append(record.getMessage())
)
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.model_max_length = (
    2048  # a tokenizer need not know the limit of the model
)
model = AutoModelForCausalLM.from_pretrained(checkpoint)
text, new_tokens = "a few words " * 600 + "and the end", 4


def generated(inputs):
    """Return the number of new tokens, or the error."""
    try:
        output = model.generate(
            **inputs,
            max_new_tokens=new_tokens,
            pad_token_id=tokenizer.eos_token_id,
            do_sample=False,
        )
    except IndexError as error:
        return str(error)
    return output.shape[1] - inputs["input_ids"].shape[1]


settings = {"return_tensors": "pt", "truncation": True}
error = generated(tokenizer(text, **settings, max_length=1024))
assert error == "index out of range in self", error
print(*warned, error, sep="\n")
assert "has exceeded the model's predefined maximum length (1024)" in warned[0]

# --8<-- [start:cure]
limit = model.config.max_position_embeddings
tokenizer.truncation_side = "left"  # keeps the end of the prompt
inputs = tokenizer(
    text, return_tensors="pt", truncation=True, max_length=limit - new_tokens
)
# --8<-- [end:cure]
assert generated(inputs) == new_tokens, generated(inputs)
whole = tokenizer(text, truncation=True, max_length=10**6)["input_ids"]
assert inputs["input_ids"][0].tolist() == whole[-(1024 - new_tokens) :], (
    "not the end of the prompt"
)

# Rotary positions: no error at twice the length in the configuration.
rotary = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", max_position_embeddings=16
)
assert rotary.config.max_position_embeddings == 16
assert rotary(torch.zeros(1, 32, dtype=torch.long)).logits.isfinite().all()

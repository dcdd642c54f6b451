# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { ', dtype=model.dtype' = '' }
# ///
"""A layer in fp32 behind a model in bf16 raises, with one of two texts. Give it the model's data type."""

import torch
from transformers import AutoModel, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModel.from_pretrained(checkpoint, dtype=torch.bfloat16)
inputs = tokenizer("A head of my own.", return_tensors="pt")
with torch.no_grad():
    hidden = model(**inputs).last_hidden_state
size = model.config.hidden_size


def error_of(head):
    """Return the error of a head on the hidden states, or nothing."""
    try:
        scores = head(hidden)
    except RuntimeError as error:
        return str(error)
    assert scores.shape[-1] == 2
    return ""


print(error_of(torch.nn.Linear(size, 2)))
print(error_of(torch.nn.Linear(size, 2, bias=False)))
with_bias = error_of(torch.nn.Linear(size, 2))
assert (
    "mat1 and mat2 must have the same dtype, but got BFloat16 and Float"
    in with_bias
)
without_bias = error_of(torch.nn.Linear(size, 2, bias=False))
assert "expected m1 and m2 to have the same dtype" in without_bias, without_bias

# --8<-- [start:cure]
head = torch.nn.Linear(size, 2, dtype=model.dtype)
# --8<-- [end:cure]
assert error_of(head) == "", error_of(head)
assert head.weight.dtype == hidden.dtype == torch.bfloat16

# Autocast casts for this operation, and leaves the head in fp32.
with torch.autocast("cpu", dtype=torch.bfloat16):
    assert error_of(torch.nn.Linear(size, 2)) == ""

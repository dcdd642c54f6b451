# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { 'model.resize_token_embeddings(len(tokenizer))' = 'pass' }
# ///
"""A token that the tokenizer learned after the model has no row in the embedding: on a CPU an IndexError, on a GPU a device-side assert. Resize the embedding."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
tokenizer.add_special_tokens({"additional_special_tokens": ["<|user|>", "<|end|>"]})
inputs = tokenizer("<|user|> Hello <|end|>", return_tensors="pt")


def error_of():
    """Return the error of a forward pass, or nothing."""
    try:
        model(**inputs)
    except IndexError as error:
        return str(error)
    return ""


rows = model.get_input_embeddings().num_embeddings
print(inputs["input_ids"].max().item(), "of", rows, "rows:", error_of())
assert error_of() == "index out of range in self", error_of()
assert inputs["input_ids"].max() == rows + 1
before = model.get_input_embeddings().weight.detach().clone()

# --8<-- [start:cure]
model.resize_token_embeddings(len(tokenizer))
# --8<-- [end:cure]
assert error_of() == "", error_of()
after = model.get_input_embeddings().weight
assert torch.equal(after[:rows], before), "the rows of the known tokens changed"
assert after[rows:].any(dim=1).all(), "a new row is empty"
assert model(**inputs).logits.shape[-1] == len(tokenizer) == rows + 2

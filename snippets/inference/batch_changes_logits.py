# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "dtype=torch.bfloat16" = "dtype=torch.float32" }
# ///
"""The same prompt gives slightly different logits in a padded batch: about 1e-6 in fp32, and thousands of times more in bf16, enough to change a token."""

from types import SimpleNamespace

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint, padding_side="left")
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
prompt, other = "A cache.", "One two three four " * 8


# --8<-- [start:measure]
def difference(model) -> float:
    """Return by how much a longer prompt in the same batch changes a prompt's logits."""
    alone = tokenizer(prompt, return_tensors="pt")
    both = tokenizer([prompt, other], padding=True, return_tensors="pt")
    with torch.no_grad():
        single = model(**alone).logits[0, -1]
        batched = model(**both).logits[0, -1]
    return (single - batched).abs().max().item()


exact = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
rounded = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
# --8<-- [end:measure]
small, large = difference(exact), difference(rounded)
print(f"fp32: {small:.1e}, bf16: {large:.1e}")

assert exact.config.num_hidden_layers == rounded.config.num_hidden_layers
assert small < 1e-5, small
assert large > 1000 * small > 0, (small, large)
assert (exact.dtype, rounded.dtype) == (torch.float32, torch.bfloat16)


# The difference is the largest of all logits, in either direction: 2 and -1 are 2.
def in_pairs(input_ids, **_):
    """Return logits that are 0 for one row, and 2 and -1 for two."""
    assert not torch.is_grad_enabled(), "a forward pass saves activations"
    return SimpleNamespace(
        logits=torch.tensor([[[2.0, -1.0]]]) * (len(input_ids) - 1)
    )


assert difference(in_pairs) == 2, difference(in_pairs)

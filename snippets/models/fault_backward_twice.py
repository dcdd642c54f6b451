# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { '(first + second).backward()' = 'first.backward()' }
# ///
"""backward() frees the graph, so a second backward() through the same forward pass raises. Add the losses, and call it once."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
ids = tokenizer("Two losses of one pass.", return_tensors="pt")["input_ids"]


def losses():
    """Return two losses of one forward pass."""
    output = model(input_ids=ids, labels=ids)
    return output.loss, 1e-2 * output.logits.logsumexp(dim=-1).square().mean()


def gradient():
    """Return the gradient of a weight, and clear all."""
    found = model.get_input_embeddings().weight.grad.clone()
    model.zero_grad()
    return found


first, second = losses()
try:
    first.backward()
    second.backward()
except RuntimeError as error:
    message = str(error)
    print(message)
assert message.startswith("Trying to backward through the graph a second time")
only_first = gradient()

# --8<-- [start:cure]
first, second = losses()
(first + second).backward()
# --8<-- [end:cure]
both = gradient()
losses()[1].backward()
assert torch.allclose(both, only_first + gradient(), rtol=1e-4, atol=1e-6)
assert not torch.allclose(both, only_first, rtol=1e-4, atol=1e-6)

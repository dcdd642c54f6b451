# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { 'num_labels=len(number_of)' = 'num_labels=2' }
# ///
"""A class number that the head does not have raises an IndexError on a CPU, and a device-side assert on a GPU. Count the classes from 0, and size the head by them."""

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
inputs = tokenizer("A review.", return_tensors="pt")
answers = ["bad", "fair", "good", "fair"]


def load(num_labels):
    return AutoModelForSequenceClassification.from_pretrained(
        checkpoint, num_labels=num_labels, dtype=torch.float32
    )


def loss_of(model, label):
    """Return the loss, or the error."""
    try:
        return model(**inputs, labels=torch.tensor([label])).loss.item()
    except IndexError as error:
        return str(error)


print(loss_of(load(num_labels=3), 3))  # classes counted from 1
assert loss_of(load(num_labels=3), 3) == "Target 3 is out of bounds."

# --8<-- [start:cure]
number_of = {name: number for number, name in enumerate(sorted(set(answers)))}
model = load(num_labels=len(number_of))
# --8<-- [end:cure]
losses = [loss_of(model, number_of[answer]) for answer in answers]
assert not any(isinstance(loss, str) for loss in losses), losses
assert model.score.out_features == 3
assert number_of == {"bad": 0, "fair": 1, "good": 2}, number_of

# -100 is the only label outside that is allowed: it is left out.
ignored = torch.nn.functional.cross_entropy
logits = torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
both = ignored(logits, torch.tensor([0, -100]))
assert torch.equal(both, ignored(logits[:1], torch.tensor([0])))

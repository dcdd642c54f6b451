# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { 'checkpoint(layer, hidden, use_reentrant=False)' = 'checkpoint(layer, hidden, use_reentrant=True)' }
# ///
"""Reentrant checkpoints behind a frozen embedding cut the graph, and backward() raises. The other implementation keeps it."""

import warnings

import torch
from torch.utils.checkpoint import checkpoint

warnings.filterwarnings("ignore", message="None of the inputs have requires_grad")
embedding = torch.nn.Embedding(10, 4)
embedding.weight.requires_grad = False
layer = torch.nn.Linear(4, 4)
ids = torch.tensor([[1, 2, 3]])


def loss_reentrant():
    hidden = embedding(ids)
    hidden = checkpoint(layer, hidden, use_reentrant=True)
    return hidden.square().sum()


def loss():
    # --8<-- [start:cure]
    hidden = embedding(ids)
    hidden = checkpoint(layer, hidden, use_reentrant=False)
    # --8<-- [end:cure]
    return hidden.square().sum()


def gradient(function, weight):
    """Return the gradient of a weight, or the error."""
    weight.grad = None
    try:
        function().backward()
    except RuntimeError as error:
        return str(error)
    return weight.grad


message = gradient(loss_reentrant, layer.weight)
print(message)
text = "element 0 of tensors does not require grad and does not have a grad_fn"
assert message == gradient(torch.no_grad()(loss), layer.weight) == text, message
found = gradient(loss, layer.weight)
assert not isinstance(found, str), found
exact = gradient(lambda: layer(embedding(ids)).square().sum(), layer.weight)
assert torch.equal(found, exact)

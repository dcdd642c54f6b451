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
runs = []  # of the layer
layer.register_forward_pre_hook(lambda *_: runs.append(1))


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
    runs.clear()
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
assert len(runs) == 2, "backward did not run the layer again: no checkpoint"
exact = gradient(lambda: layer(embedding(ids)).square().sum(), layer.weight)
assert len(runs) == 1, "the layer runs again without a checkpoint, too"
assert torch.equal(found, exact)

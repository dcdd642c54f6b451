# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "return cross_entropy(logits, labels)  # ignores -100" = "return cross_entropy(logits[labels != -100], labels[labels != -100])  # ignores -100" }
# ///
"""Fake tensors have shapes and no values. So a step that reads a value on the CPU, which a CUDA graph cannot record, raises an error there, without a GPU."""

from unittest.mock import patch

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import cross_entropy

vocabulary, hidden, tokens = 256, 64, 128
model = nn.Sequential(
    nn.Embedding(vocabulary, hidden),
    nn.TransformerEncoderLayer(hidden, 4, dropout=0.0, batch_first=True),
    nn.Linear(hidden, vocabulary),
)


# --8<-- [start:enable]
def loss_of(logits, labels):
    # logits[labels != -100] would have a shape that only the GPU knows
    return cross_entropy(logits, labels)  # ignores -100


# --8<-- [end:enable]


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def reads_a_value(step):
    """The operation that makes the CPU wait for a value, or None."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    try:
        with mode:
            step()
    except RuntimeError as error:  # its kinds are in torch._subclasses.fake_tensor
        if type(error).__name__ not in {
            "DataDependentOutputException",
            "DynamicOutputShapeException",
        }:
            raise
        return str(error.func)
    return None


def step():
    ids = torch.ones(4, tokens, dtype=torch.long)
    logits = model(ids).flatten(0, 1)
    loss_of(logits, ids.flatten()).backward()


print(reads_a_value(step))  # on: None, off: aten.nonzero.default
# --8<-- [end:is-it-on]
shown = printed.call_args.args

assert reads_a_value(step) is None, f"the step reads {reads_a_value(step)}"

assert shown == (None,), f"printed was {shown}"
assert all(p.grad is not None for p in model.parameters()), "no backward pass"

# The positive controls: an if on a tensor, a print of one, and .item().
for read, operation in (
    (lambda loss: bool(loss > 0), "aten._local_scalar_dense.default"),
    (lambda loss: loss.item(), "aten._local_scalar_dense.default"),
    (torch.nonzero, "aten.nonzero.default"),
):
    found = reads_a_value(
        lambda read=read: read(model(torch.ones(1, 8).long()).sum())
    )
    assert found == operation, f"found {found} in place of {operation}"
# Clipping by the norm reads nothing, unless it is to raise an error for infinite gradients.
weights = [nn.Parameter(torch.ones(3)) for _ in range(2)]
for raises in (False, True):

    def clip(raises=raises):
        for weight in weights:
            weight.grad = torch.ones(3)
        nn.utils.clip_grad_norm_(weights, 1.0, error_if_nonfinite=raises)

    assert (reads_a_value(clip) is not None) == raises, (
        f"error_if_nonfinite={raises}"
    )

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { 'probabilities = probabilities + 1e-6' = 'probabilities += 1e-6' }
# ///
"""A tensor that backward() needs was changed in place, which raises in backward(). A new tensor leaves the saved one as it was."""

import torch


def entropy(logits):
    # --8<-- [start:provoke]
    probabilities = logits.softmax(dim=-1)
    probabilities += 1e-6  # softmax saved its result for backward()
    # --8<-- [end:provoke]
    return -(probabilities * probabilities.log()).sum()


def entropy_not_in_place(logits):
    # --8<-- [start:cure]
    probabilities = logits.softmax(dim=-1)
    probabilities = probabilities + 1e-6
    # --8<-- [end:cure]
    return -(probabilities * probabilities.log()).sum()


def gradient(function):
    """Return the gradient, or the error."""
    logits = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    try:
        function(logits).backward()
    except RuntimeError as error:
        return str(error)
    return logits.grad


message = gradient(entropy)
print(message)
assert message.startswith(
    "one of the variables needed for gradient computation has been modified "
    "by an inplace operation"
)
found = gradient(entropy_not_in_place)
assert not isinstance(found, str), found

step = torch.tensor([0.0, 1e-3, 0.0], dtype=torch.float64)
at = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
slope = (entropy(at + step) - entropy(at - step)) / 2e-3
assert abs(found[1] - slope) < 1e-4, (found, slope)
exact = at.clone().requires_grad_()
entropy_not_in_place(exact).backward()
assert abs(exact.grad[1] - slope) < 1e-6, (exact.grad, slope)

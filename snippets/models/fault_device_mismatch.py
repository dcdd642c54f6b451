# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { ', device=hidden.device' = '' }
# ///
"""A tensor that a function creates on the default device does not fit to a model elsewhere. The device of an input does. The meta device stands for a GPU here."""

import torch

elsewhere = "cuda" if torch.cuda.is_available() else "meta"


def add_positions_on_the_cpu(hidden):
    positions = torch.arange(hidden.shape[1])
    return hidden + positions[:, None]


def add_positions(hidden):
    # --8<-- [start:cure]
    positions = torch.arange(hidden.shape[1], device=hidden.device)
    return hidden + positions[:, None]
    # --8<-- [end:cure]


def error_of(function, device):
    """Return the error on a device, or nothing."""
    hidden = torch.zeros(2, 5, 8, device=device)
    try:
        result = function(hidden)
    except RuntimeError as error:
        return str(error)
    assert result.shape == hidden.shape
    assert result.device == hidden.device
    return ""


assert error_of(add_positions_on_the_cpu, "cpu") == ""
message = error_of(add_positions_on_the_cpu, elsewhere)
print(message)
meta = "Tensor on device cpu is not on the expected device meta!"
gpu = "Expected all tensors to be on the same device"
assert message.startswith(meta if elsewhere == "meta" else gpu), message
assert error_of(add_positions, elsewhere) == "", error_of(add_positions, elsewhere)
assert torch.equal(
    add_positions(torch.zeros(1, 3, 1)).flatten(), torch.tensor([0.0, 1.0, 2.0])
)

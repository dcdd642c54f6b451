# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { '"cuda" if torch.cuda.is_available() else "cpu"' = '"cuda"' }
# ///
"""Without a GPU that PyTorch can use, the device cuda raises, with a text that names the cause. Ask before."""

import os
from unittest.mock import patch

os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the same on a machine with a GPU

import torch  # CUDA reads the variable once


def error_of(device):
    """Return the error of a tensor on a device, or nothing."""
    try:
        torch.zeros(1, device=device)
    except (AssertionError, RuntimeError) as error:
        return str(error)
    return ""


print(torch.__version__, torch.version.cuda)
print(error_of("cuda"))
if torch.version.cuda is None:
    assert error_of("cuda") == "Torch not compiled with CUDA enabled"
assert error_of("cuda") != ""


def chosen():
    """Return the device of the code that the page shows."""
    # --8<-- [start:cure]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    # --8<-- [end:cure]
    return device  # noqa: RET504 - the page shows the line above


device = chosen()
assert error_of(device) == "", error_of(device)
assert device == "cpu"
# What it chooses where PyTorch finds a GPU.
with patch("torch.cuda.is_available", return_value=True):
    assert chosen() == "cuda", chosen()

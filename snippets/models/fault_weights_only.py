# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { 'safe_globals([Namespace])' = 'safe_globals([])' }
# ///
"""Since torch 2.6, torch.load reads tensors and plain containers only. Name the classes that you trust in the file, here argparse's Namespace."""

import tempfile
from argparse import Namespace
from fractions import Fraction
from pathlib import Path
from pickle import UnpicklingError

import torch

folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "checkpoint.pt")
torch.save({"weight": torch.ones(2), "args": Namespace(lr=1e-4)}, path)

try:
    torch.load(path)
except UnpicklingError as error:
    message = str(error)
    print(message.splitlines()[0])
assert message.startswith("Weights only load failed."), message
assert "Unsupported global: GLOBAL argparse.Namespace" in message


def load():
    """Return the checkpoint, or nothing if it cannot be read."""
    try:
        # --8<-- [start:cure]
        with torch.serialization.safe_globals([Namespace]):
            checkpoint = torch.load(path)
        # --8<-- [end:cure]
    except UnpicklingError:
        return None
    return checkpoint


checkpoint = load()
assert checkpoint is not None, "the checkpoint was refused"
trusted = torch.serialization.get_safe_globals()
assert Namespace not in trusted, "later files may use the class, too"
assert checkpoint["args"] == Namespace(lr=1e-4)
assert torch.equal(checkpoint["weight"], torch.ones(2))

# A class that is not named is refused, also next to one that is.
torch.save({"args": Namespace(lr=1e-4), "other": Fraction(1, 2)}, path)
assert load() is None, "a class that is not named was read"

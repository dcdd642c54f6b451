# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "map_location=\"cpu\", mmap=True" = "mmap=False" }
# ///
"""A checkpoint names the device of its tensors. torch.load follows it, unless map_location names another; mmap=True leaves the bytes in the file."""

import os
import tempfile
from pathlib import Path
from unittest.mock import patch

import torch

model = torch.nn.Linear(512, 512, bias=False)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "model.pt"
# A checkpoint as the process of GPU 0 writes it.
with patch("torch.serialization.location_tag", return_value="cuda:0"):
    torch.save(model.state_dict(), path)
before = model.weight.detach().clone()
torch.nn.init.zeros_(model.weight)


def device_of(**settings) -> str:
    """Load the checkpoint, and return the device of its tensors; without a GPU, the device that it asks for."""
    try:
        return torch.load(path, **settings)["weight"].device.type
    except RuntimeError as error:
        refused = "Attempting to deserialize object on a CUDA device" in str(error)
        return "cuda" if refused else f"{error}"


def mapped() -> bool:
    """Say whether the file is mapped into this process."""
    return str(path) in Path("/proc/self/maps").read_text("utf-8")


followed = device_of()
assert followed == "cuda", f"the positive control loads to {followed}"
assert not mapped()

# The process of rank 1 of two GPUs, also on a machine without a GPU: what does it choose, and when?
os.environ["LOCAL_RANK"] = "1"
events = []
patch("torch.cuda.is_available", return_value=True).start()
patch("torch.cuda.set_device", lambda gpu: events.append(("choose", gpu))).start()
load = torch.load
patch(
    "torch.load", lambda *a, **k: events.append(("load", *a)) or load(*a, **k)
).start()
raised = None
try:
    # --8<-- [start:enable]
    if torch.cuda.is_available():
        # Before any other call of CUDA.
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    weights = torch.load(path, map_location="cpu", mmap=True)
    # --8<-- [end:enable]
except RuntimeError as error:
    raised = error
finally:
    patch.stopall()
assert events == [("choose", 1), ("load", path)], events
assert raised is None, f"the checkpoint chose the device: {raised}"
assert weights["weight"].device.type == "cpu", weights["weight"].device
assert mapped(), "the file was copied into memory"
model.load_state_dict(weights)
assert torch.equal(model.weight, before)
print(
    f"without map_location: {followed}; with it: {weights['weight'].device}, mapped"
)

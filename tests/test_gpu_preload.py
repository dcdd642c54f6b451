"""A fork server on a machine with a GPU imports the libraries without a CUDA context, or not at all."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headroom.execution import preloads
from headroom.execution.isolation import PRELOAD

# A machine with one GPU, as far as the libraries' imports can see. A question that needs a context is counted.
_GPU = """
import json, sys, torch
asked = []
torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: 1
torch.version.cuda = "13.0"
torch._C._cuda_getCurrentRawStream = None
def lazy_init():
    asked.append("context")
    raise AssertionError("a context")
torch.cuda._lazy_init = lazy_init
real = torch.ones
def ones(*size, device=None, **more):
    if device == "cuda" and not CUDA_WORKS:
        raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")
    return real(*size, **more)
torch.ones = ones
"""
_TELL = """
names = ("bitsandbytes", "torchao", "transformers")
print(json.dumps({"asked": asked, "imported": [name for name in names if name in sys.modules]}))
"""


def _imported(folder: Path, code: str, *, cuda_works: bool) -> dict[str, Any]:
    """Run the code on the machine above, whose nvidia-smi names a GPU of compute capability 9.0."""
    tool = folder / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 9.0\n")
    tool.chmod(0o755)
    script = _GPU.replace("CUDA_WORKS", str(cuda_works)) + code + _TELL
    path = {"PATH": f"{folder}:/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=path, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_libraries_are_imported_without_a_context(tmp_path: Path) -> None:
    """Where a child can use CUDA, everything is imported, and nothing asked for a context."""
    found = _imported(tmp_path, "import headroom.execution.gpu_preload", cuda_works=True)
    assert found == {"asked": [], "imported": ["bitsandbytes", "torchao", "transformers"]}


def test_usual_imports_create_a_context(tmp_path: Path) -> None:
    """The control: without the answer of nvidia-smi, the libraries ask the GPU."""
    code = f"""
try:
    for name in {PRELOAD}: __import__(name)
except Exception: pass
"""
    assert _imported(tmp_path, code, cuda_works=True)["asked"]


def test_only_torch_is_imported_where_children_cannot_use_cuda(tmp_path: Path) -> None:
    """If a child of the copy cannot use CUDA, the server imports no library, and its children can."""
    assert not _imported(tmp_path, "import headroom.execution.gpu_preload", cuda_works=False)["imported"]


@pytest.mark.parametrize(("device", "expected"), [("cpu", PRELOAD), ("cuda", ("headroom.execution.gpu_preload",))])
def test_device_decides_what_is_imported(device: str, expected: tuple[str, ...]) -> None:
    """A machine without a GPU imports what it always did."""
    assert preloads.modules(device) == expected

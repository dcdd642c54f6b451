"""Import what snippets and benchmarks need in a fork server, and leave CUDA to its children.

bitsandbytes and torchao ask for the GPU's compute capability when they are imported. That creates a CUDA context, and a
child of a process with a context cannot use CUDA. So while the libraries are imported here, nvidia-smi answers. A
forked copy of this process tries it first: if a child of the copy cannot use CUDA, this process imports torch alone.
Each run then imports the other libraries itself, which takes it some seconds longer.
"""

import importlib
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import torch

from headroom.execution.isolation import PRELOAD

# With it, torch.cuda.is_available() asks the driver's tool library, which creates no context.
_NO_CONTEXT = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}


def _capability(_device: object = None) -> tuple[int, int]:
    """Return the compute capability of the first GPU, as nvidia-smi prints it."""
    command = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader", "--id=0"]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout  # noqa: S603 - fixed words
    major, minor = printed.strip().split(".")
    return int(major), int(minor)


@contextmanager
def _no_context() -> Iterator[None]:
    """Answer questions about the GPU without a CUDA context."""
    os.environ |= _NO_CONTEXT  # for the children, too, which ask the same questions
    with patch.object(torch.cuda, "get_device_capability", _capability):
        yield


def _import_all() -> None:
    with _no_context():
        for name in PRELOAD:
            importlib.import_module(name)


def _use_cuda() -> None:
    torch.ones(1, device="cuda").sum().item()


def _succeeds_in_a_copy(work: Callable[[], object]) -> bool:
    """Return whether a forked copy of this process does the work without an exception."""
    copy = os.fork()
    if copy == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - any failure counts, and the copy must not go on with its parent's work
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    return os.waitpid(copy, 0)[1] == 0


def _children_can_use_cuda() -> None:
    """Import everything, and let a child use CUDA.

    Raises:
        RuntimeError: the child cannot.
    """
    _import_all()
    if not _succeeds_in_a_copy(_use_cuda):
        raise RuntimeError("after these imports, a child cannot use CUDA; each run imports the libraries itself")


if _succeeds_in_a_copy(_children_can_use_cuda):
    _import_all()

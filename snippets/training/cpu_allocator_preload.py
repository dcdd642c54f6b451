# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "cmeel-mimalloc>=3.4"]
#
# [tool.headroom]
# environment = "cpu-tools"
# timeout = 120
# ablation = { "LD_PRELOAD=str(library)" = "UNUSED=str(library)" }
# ///
"""LD_PRELOAD puts another allocator under PyTorch. Look into /proc/self/maps: a wrong path only prints a warning."""

import io
import os
import subprocess
import sys
from importlib.metadata import files

shell, sys.stdout = sys.stdout, io.StringIO()  # for the proof
# --8<-- [start:enable]
library = next(
    path.locate().resolve()
    for path in files("cmeel-mimalloc")
    if path.name == "libmimalloc.so"
)


def run(code, **environment):
    """Run code in a new process, because LD_PRELOAD counts only at its start."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


loaded = """
import torch
x = torch.ones(2**24)
print("libmimalloc" in open("/proc/self/maps").read())
"""
print("loaded:", *run(loaded, LD_PRELOAD=str(library)))
# --8<-- [end:enable]
printed, sys.stdout = sys.stdout.getvalue(), shell
print(printed, end="")

# The proof: the library is mapped and serves PyTorch's blocks. Without it, and with a wrong path, it is not mapped and nothing fails.
serves = """
import ctypes, torch
x = torch.ones(2**24)
try:
    ours = ctypes.CDLL(None).mi_is_in_heap_region
except AttributeError:
    print("False")
else:
    ours.argtypes, ours.restype = [ctypes.c_void_p], ctypes.c_bool
    print(ours(x.data_ptr()))
"""
assert printed == "loaded: True\n", printed
preload = {"LD_PRELOAD": str(library)}
assert run(loaded, **preload) == ["True"]
assert run(serves, **preload) == ["True"]
assert run(loaded) == run(serves) == ["False"]
# The rest of the environment stays, and a variable that is passed replaces an old one.
without_torch = """
import os
print(os.environ.get("KEPT"), "libmimalloc" in open("/proc/self/maps").read())
"""
os.environ.update(KEPT="1", LD_PRELOAD="/no/such/libtcmalloc.so")
assert run(without_torch, **preload) == ["1", "True"], "another environment"
assert run(loaded, LD_PRELOAD="/no/such/libtcmalloc.so") == ["False"]

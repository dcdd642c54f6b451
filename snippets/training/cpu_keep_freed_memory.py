# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# timeout = 120
# ablation = { "\"MALLOC_MMAP_MAX_\": \"0\"" = "\"UNUSED\": \"0\"" }
# ///
"""glibc returns large freed blocks to the kernel, so each step faults its pages in again. Two variables make the process keep them."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

# --8<-- [start:enable]
keep = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40)}
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
Path("train.py").write_text(
    """
import resource
import torch

model = torch.nn.Linear(16, 8192)  # an LM head: 1,280 tokens have 40 MiB of logits
tokens, labels = torch.randn(1280, 16), torch.randint(8192, (1280,))


def step():
    loss = torch.nn.functional.cross_entropy(model(tokens), labels)
    loss.backward()
    model.zero_grad()


for _ in range(20):  # until the heap has grown to its size
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    step()
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // 5)
""",
    encoding="utf-8",
)


def page_faults(environment):
    """Return the page faults per step."""
    done = subprocess.run(
        [sys.executable, "train.py"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


default, kept = page_faults({}), page_faults(keep)
print(f"page faults per step: {default:,} by default, {kept:,} with kept memory")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

# The proof: by default a step faults in three to eight tensors of the size of the logits again (40 MiB in pages of
# 4 KiB). With kept memory, it is less than a fifth.
logits = 1280 * 8192 * 4 / 4096
assert 2.5 * logits < default < 8 * logits, default
assert kept < default / 5, (default, kept)
line = f"page faults per step: {default:,} by default, {kept:,} with kept memory"
assert shown == line, shown

# The command that the page shows sets the same values.
command = "MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=1099511627776"
assert " ".join(f"{name}={value}" for name, value in keep.items()) == command, keep

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# needs = ["avx512_bf16"]
# ablation = { "dtype=torch.bfloat16" = "dtype=torch.float32" }
# ///
"""ONEDNN_VERBOSE=1 prints each oneDNN kernel with its instruction set and types: that is how you see bf16 or AMX at work."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import torch

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:enable]
Path("step.py").write_text(
    """
import torch

linear = torch.nn.Linear(768, 3072)
tokens = torch.randn(256, 768)
with torch.autocast("cpu", dtype=torch.bfloat16):
    linear(tokens).sum().backward()
""",
    encoding="utf-8",
)


def kernels(**environment):
    """Return implementation and types of each matmul that oneDNN computes in a step."""
    done = subprocess.run(
        [sys.executable, "step.py"],
        env={**os.environ, "ONEDNN_VERBOSE": "1", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [row.split(",") for row in done.stdout.splitlines() if ",exec," in row]
    # ...,exec,cpu,matmul,IMPLEMENTATION,forward…,src:TYPE:… wei:TYPE:… dst:TYPE:…,…
    found = [row[row.index("exec") :] for row in rows]
    return {(row[3], row[5].split(":")[1]) for row in found if "matmul" in row}


for implementation, data_type in sorted(kernels()):
    print(implementation, data_type)
# --8<-- [end:enable]
shown = {call.args for call in printed.call_args_list}

# The proof: every matmul takes bf16 and a kernel for this CPU's bf16 instructions.
here = kernels()
assert here, "oneDNN computed no matmul"
assert shown == here, f"printed was {shown}"
assert {data_type for _, data_type in here} == {"bf16"}, here
wanted = "amx" if torch.cpu.get_capabilities().get("amx_bf16") else "bf16"
assert any(wanted in implementation for implementation, _ in here), here

# A CPU without these instructions takes another kernel, which the limit imitates.
limited = kernels(ONEDNN_MAX_CPU_ISA="AVX512_CORE")
print("without the instructions:", *sorted(limited))
names = {implementation for implementation, _ in limited}
assert not any("amx" in name or "core_bf16" in name for name in names), limited

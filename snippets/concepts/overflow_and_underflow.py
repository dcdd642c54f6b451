# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "half = torch.float16" = "half = torch.bfloat16" }
# ///
"""fp16 becomes infinite from 65,520 on and zero at 2 to the power of -25. bf16 does neither there."""

from importlib import import_module
from unittest.mock import patch

full = patch("torch.full", wraps=import_module("torch").full).start()
printed = patch("builtins.print", wraps=print).start()

# ruff: noqa: E402 - what is printed is part of the proof
# --8<-- [start:show]
import torch

half = torch.float16
values = torch.tensor([65_504, 65_519, 65_520, 2**-24, 1.5 * 2**-25, 2**-25])
print(values.to(half).tolist())  # 65504, 65504, inf, 6e-08, 6e-08, 0
print(values.to(torch.bfloat16).tolist())  # all finite, none is zero

norm = torch.full((1024,), 300.0, dtype=half).pow(2)
print(norm[0].item())  # inf: 90,000 is past the end
# --8<-- [end:show]

least = 2**-24
edges = [65_504, 65_519, 65_520, least, 1.5 * least / 2, least / 2]
assert values.tolist() == edges, f"{values} are not at the edges of fp16"
found = values.to(half)
assert found[:3].tolist() == [65_504, 65_504, float("inf")], found
assert found[3:].tolist() == [2**-24, 2**-24, 0], found
wide = values.to(torch.bfloat16)
assert wide.isfinite().all(), wide
assert (wide != 0).all(), wide
shown = [call.args[0] for call in printed.call_args_list]
assert shown == [found.tolist(), wide.tolist(), float("inf")], shown
assert full.call_args.args == ((1024,), 300.0), full.call_args
assert norm.isinf().all(), norm
assert torch.full((4,), 300.0, dtype=torch.bfloat16).pow(2).isfinite().all()

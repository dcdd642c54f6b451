# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { 'graphs = "reduce-overhead"' = 'graphs = "default"' }
# ///
"""What each mode of torch.compile turns on: "reduce-overhead" is CUDA graphs, "max-autotune" adds the search for kernels."""

import contextlib
import io

import torch

printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    # --8<-- [start:list]
    modes = torch._inductor.list_mode_options()  # noqa: SLF001
    for mode, options in modes.items():
        print(f"{mode}: {options}")
    # --8<-- [end:list]
print(printed.getvalue(), end="")

graphs = "reduce-overhead"
assert modes["default"] == {}, modes
assert modes[graphs] == {"triton.cudagraphs": True}, modes
assert modes["max-autotune"].get("triton.cudagraphs") is True, modes
assert modes["max-autotune"].get("max_autotune") is True, modes
without = modes["max-autotune-no-cudagraphs"]
assert without.get("max_autotune") is True, modes
assert "triton.cudagraphs" not in without, modes
lines = [f"{mode}: {options}" for mode, options in modes.items()]
assert printed.getvalue().splitlines() == lines, "not all options are printed"

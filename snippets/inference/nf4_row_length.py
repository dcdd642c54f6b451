# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "bitsandbytes>=0.50"]
#
# [tool.headroom]
# needs = ["avx512_bf16"]
# ablation = { "columns = 96" = "columns = 128" }
# ///
"""On a CPU with AVX-512, bitsandbytes 0.50.2 expands NF4 wrongly if the rows are not a multiple of 64 weights."""

from unittest.mock import patch

import torch
from bitsandbytes.functional import dequantize_4bit, quantize_4bit

torch.manual_seed(0)
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:check]
columns = 96
weight = torch.randn(128, columns)


def error(weight: torch.Tensor) -> float:
    """Return the relative error after storing a weight as NF4 and expanding it."""
    expanded = dequantize_4bit(*quantize_4bit(weight, quant_type="nf4"))
    return ((weight - expanded).norm() / weight.norm()).item()


rows_of_64 = weight.reshape(-1, 64)  # the same blocks
print(
    f"error {error(weight):.2f}, with the same blocks as rows {error(rows_of_64):.2f}"
)
# --8<-- [end:check]

wrong, right = error(weight), error(weight.reshape(-1, 64))
line = f"error {wrong:.2f}, with the same blocks as rows {right:.2f}"
assert printed.call_args.args == (line,), printed.call_args
assert rows_of_64.shape == (192, 64), rows_of_64.shape
stored, state = quantize_4bit(weight, quant_type="nf4")
again, state_again = quantize_4bit(rows_of_64, quant_type="nf4")
assert torch.equal(stored.flatten(), again.flatten()), "other 4-bit codes"
assert torch.equal(state.absmax, state_again.absmax), "other scales"
assert error(rows_of_64) < 0.1, error(rows_of_64)
assert error(weight) > 2 * error(rows_of_64), error(weight)

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { "group = 32" = "group = 4096" }
# ///
"""Rounding weights to few bits: the error halves with each bit, and small groups with a scale each lower it."""

from itertools import pairwise
from unittest.mock import patch

import torch

torch.manual_seed(0)
weight = torch.randn(512, 4096)
weight[:, ::512] *= 20  # a few large columns, as trained models have
printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:measure]
def rounded(weight: torch.Tensor, bits: int, group: int) -> torch.Tensor:
    """Return the weight after rounding to 2**bits - 1 values, with a scale per group of a row."""
    groups = weight.reshape(len(weight), -1, group)
    scale = groups.abs().amax(-1, keepdim=True) / (2 ** (bits - 1) - 1)
    return ((groups / scale).round() * scale).reshape(weight.shape)


def error(bits: int, group: int) -> float:
    """Return the relative error of the rounded weight."""
    return ((rounded(weight, bits, group) - weight).norm() / weight.norm()).item()


group = 32
for bits in (8, 4, 3, 2):
    stored = bits + 16 / group  # a 16-bit scale per group
    print(
        f"int{bits}: error {error(bits, group):.3f}, with a scale per row "
        f"{error(bits, 4096):.3f}, {stored:.2f} bits per weight"
    )
# --8<-- [end:measure]

for bits in (8, 4, 3, 2):  # zero, and as many values below it as above it
    row = torch.linspace(-1, 1, 4096)[None]
    values = len(rounded(row, bits, 4096).unique())
    assert values == 2**bits - 1, f"int{bits}: {values} values"
fine = [error(bits, group) for bits in (8, 4, 3, 2)]
coarse = [error(bits, 4096) for bits in (8, 4, 3, 2)]
bits_stored = (8.5, 4.5, 3.5, 2.5)  # with 16 bits of a scale per 32 weights
for call, found, whole, size in zip(
    printed.call_args_list, fine, coarse, bits_stored, strict=True
):
    line = f"error {found:.3f}, with a scale per row {whole:.3f}, {size:.2f} bits"
    assert line in call.args[0], call
# Each bit halves the error, about: four bits less, and then one less twice.
steps = [b / a for a, b in pairwise(fine)]
assert 2**3 < steps[0] < 2**5, steps
assert all(2**0.5 < step < 2**1.5 for step in steps[1:]), steps
assert fine == sorted(fine), "fewer bits had a smaller error"
assert all(a < 0.7 * b for a, b in zip(fine, coarse, strict=True)), (fine, coarse)
assert fine[0] < 0.01, fine
assert fine[-1] > 0.3, fine

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# no_ablation = "it prints what the formats hold and turns nothing on; the figures are held to the formats' bits instead"
# ///
"""What torch prints for each number format follows from the format's bits of exponent and of fraction."""

# ruff: noqa: A001, E402 - what is printed is part of the proof
import builtins

printed = []


def print(line):
    printed.append(line)
    builtins.print(line)


# --8<-- [start:print]
import torch

for name in ("float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"):
    of = torch.finfo(getattr(torch, name))
    least = torch.tensor(1, dtype=getattr(torch, f"uint{of.bits}"))
    subnormal = least.view(getattr(torch, name)).double().item()
    print(
        f"{name:>13}: {of.bits // 8} bytes, up to {of.max:.6g}, gap {of.eps:.3g}, "
        f"normal from {of.smallest_normal:.3g}, down to {subnormal:.3g}"
    )
# --8<-- [end:print]

# The proof: the same figures from the formats' definitions.
BITS = {  # exponent, fraction
    "float32": (8, 23),
    "bfloat16": (8, 7),
    "float16": (5, 10),
    "float8_e4m3fn": (4, 3),
    "float8_e5m2": (5, 2),
}
assert len(printed) == len(BITS), f"{len(printed)} formats were printed"
for line, (name, (exponent, fraction)) in zip(printed, BITS.items(), strict=True):
    dtype = getattr(torch, name)
    of = torch.finfo(dtype)
    bias = 2 ** (exponent - 1) - 1
    assert of.bits == 1 + exponent + fraction, name
    assert of.eps == 2.0**-fraction, name
    assert of.smallest_normal == 2.0 ** (1 - bias), name
    if (
        name == "float8_e4m3fn"
    ):  # no infinity: all exponents hold numbers, but one nan
        largest = (2 - 2 * 2.0**-fraction) * 2.0 ** (bias + 1)
    else:
        largest = (2 - 2.0**-fraction) * 2.0**bias
    assert of.max == largest, f"{name} ends at {of.max} and not at {largest}"
    one = torch.tensor(1.0).to(dtype).view(getattr(torch, f"uint{of.bits}"))
    after = (one.long() + 1).to(one.dtype).view(dtype).double().item()
    assert after == 1 + of.eps, f"after 1 comes {after} in {name}"
    least = torch.tensor(1, dtype=one.dtype).view(dtype).double().item()
    assert least == 2.0 ** (1 - bias - fraction), f"{name} goes down to {least}"
    shown = [name, of.bits // 8, f"{largest:.6g}", f"{2.0**-fraction:.3g}"]
    shown += [f"{2.0 ** (1 - bias):.3g}", f"{2.0 ** (1 - bias - fraction):.3g}"]
    expected = "{:>13}: {} bytes, up to {}, gap {}, normal from {}, down to {}"
    assert line == expected.format(*shown), f"printed was {line}"

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "rest = wanted - (after - weight)" = "rest = torch.zeros_like(wanted)" }
# ///
"""A thousand updates of 0.001 leave a bf16 weight of 1 as it was. A compensated sum brings it to 2."""

from unittest.mock import patch

printed = patch("builtins.print", wraps=print).start()

# ruff: noqa: E402 - what is printed is part of the proof
# --8<-- [start:show]
import torch

update = torch.tensor(0.001, dtype=torch.bfloat16)

plain = torch.tensor(1.0, dtype=torch.bfloat16)
for _ in range(1000):
    plain += update
print(plain.item())  # 1.0: every update was lost

weight = torch.tensor(1.0, dtype=torch.bfloat16)
rest = torch.zeros_like(weight)  # a second bf16 number for each weight
for _ in range(1000):
    wanted = update + rest
    after = weight + wanted
    rest = wanted - (after - weight)
    weight = after
print(weight.item())  # 2.0, to bf16's digits
# --8<-- [end:show]

shown = [call.args for call in printed.call_args_list]
assert shown == [(1.0,), (2.0,)], f"printed was {shown}"

assert plain.item() == 1.0, f"the plain sum is {plain.item()}"
assert plain._version == 1000, f"{plain._version} updates were made"  # noqa: SLF001
assert plain.dtype == weight.dtype == rest.dtype == torch.bfloat16
assert abs(weight.item() - 2) < 0.02, f"the compensated sum is {weight.item()}"


def compensated(updates):
    """Return a compensated sum and its rest, in the steps of Kahan's algorithm."""
    total = torch.tensor(1.0, dtype=torch.bfloat16)
    missing = torch.zeros_like(total)
    for _ in range(updates):
        old, total = total, total + (missing + update)
        missing = (missing + update) - (total - old)
    return total, missing


assert (weight, rest) == compensated(1000), f"the rest is {rest.item()}"
assert (weight, rest) != compensated(999), "the rest does not count the updates"
exact = torch.tensor(1.0)
for _ in range(1000):
    exact += update
assert abs(exact.item() - 2) < 0.02, f"the same sum in fp32 is {exact.item()}"

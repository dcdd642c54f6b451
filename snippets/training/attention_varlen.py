# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# needs = ["cuda", "bf16"]
# ablation = { "ends = torch.tensor([0, *accumulate(lengths)]" = "ends = torch.tensor([0, sum(lengths)]" }
# ///
"""varlen_attn computes causal attention within each packed document, with a backward pass and without a mask."""

from itertools import accumulate

import torch
from torch.nn.attention.varlen import varlen_attn
from torch.nn.functional import scaled_dot_product_attention

torch.manual_seed(0)
lengths, heads, size = [300, 20, 192], 4, 64
query, key, value = (
    torch.randn(
        sum(lengths),
        heads,
        size,
        device="cuda",
        dtype=torch.bfloat16,
        requires_grad=True,
    )
    for _ in range(3)
)

# --8<-- [start:enable]
ends = torch.tensor([0, *accumulate(lengths)], device="cuda", dtype=torch.int32)
output = varlen_attn(
    query,  # tokens of all documents × heads × head size
    key,
    value,
    ends,
    ends,
    max(lengths),
    max(lengths),
    window_size=(-1, 0),  # causal; (511, 0) is causal with a window of 512 tokens
)
# --8<-- [end:enable]

output.float().square().mean().backward()
found = [tensor.grad.float() for tensor in (query, key, value)]
for tensor in (query, key, value):
    tensor.grad = None
# The proof: each document by itself, with SDPA.
parts = []
for part in zip(*(t.split(lengths) for t in (query, key, value)), strict=True):
    one = [tensor.transpose(0, 1)[None] for tensor in part]
    parts.append(
        scaled_dot_product_attention(*one, is_causal=True)[0].transpose(0, 1)
    )
expected = torch.cat(parts)
assert torch.allclose(output, expected, atol=2e-2), "another result than SDPA"
expected.float().square().mean().backward()
for gradient, tensor in zip(found, (query, key, value), strict=True):
    apart = (gradient - tensor.grad.float()).norm() / tensor.grad.float().norm()
    assert apart < 0.05, f"a gradient differs by {apart:.1%}"

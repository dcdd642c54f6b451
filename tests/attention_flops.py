"""Print the FLOPs of attention that the harness counts where torch's own formulas refuse fewer heads, and torch's own.

Run as a script: `attention_flops.py HEADS`, the heads of keys and values. The query has a batch of 2, 8 heads, 16
positions and a width of 4.
"""

import json
import sys
from collections.abc import Sequence

import torch
from torch.utils.flop_counter import FlopCounterMode

from headroom.execution import benchmark_run

Shape = Sequence[int]


def equal_heads_only(query: Shape, key: Shape, value: Shape) -> int:
    """Count as torch 2.11 does."""
    assert query[1] == key[1] == value[1], "query/key/value shapes are incompatible"
    return 4 * query[0] * query[1] * query[2] * key[2] * query[3]


def equal_heads_only_backward(grad: Shape, query: Shape, key: Shape, value: Shape) -> int:
    """Count as torch 2.11 does."""
    return equal_heads_only(query, key, value) * 5 // 2 * (tuple(grad) == tuple(query))


def forward(heads: int, mapping: dict | None) -> int:
    """Return what the counter gives for one call of attention."""
    query, key, value = (torch.randn(2, each, 16, 4, device="meta") for each in (8, heads, heads))
    with FlopCounterMode(display=False, custom_mapping=mapping) as counted:
        torch.ops.aten._scaled_dot_product_flash_attention(query, key, value)
    return counted.get_total_flops()


heads = int(sys.argv[1])
found = {"harness": forward(heads, benchmark_run._ATTENTION)}
if heads == 8:
    found["torch"] = forward(heads, None)
benchmark_run.sdpa_flop_count = equal_heads_only
benchmark_run.sdpa_backward_flop_count = equal_heads_only_backward
query, key = (2, 8, 16, 4), (2, heads, 16, 4)
found["forward"] = forward(heads, benchmark_run._ATTENTION)
found["backward"] = benchmark_run._attention_backward(query, query, key, key)
json.dump(found, sys.stdout)

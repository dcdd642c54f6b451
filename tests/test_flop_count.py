"""The FLOPs of a step with grouped-query attention, also where torch's own count refuses it."""

from collections.abc import Sequence

import pytest
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


@pytest.mark.parametrize("heads", [8, 2, 1])
def test_keys_and_values_with_fewer_heads_count_as_those_with_all(monkeypatch: pytest.MonkeyPatch, heads: int) -> None:
    """Attention of 8 query heads over 16 positions, 4 wide, with a batch of 2: forward, and forward with backward."""
    monkeypatch.setattr(benchmark_run, "sdpa_flop_count", equal_heads_only)
    monkeypatch.setattr(benchmark_run, "sdpa_backward_flop_count", equal_heads_only_backward)
    query, key, value = (torch.randn(2, each, 16, 4, device="meta") for each in (8, heads, heads))
    with FlopCounterMode(display=False, custom_mapping=benchmark_run._ATTENTION) as counted:
        torch.ops.aten._scaled_dot_product_flash_attention(query, key, value)
    assert counted.get_total_flops() == 4 * 2 * 8 * 16 * 16 * 4
    assert (
        benchmark_run._attention_backward(query.shape, query.shape, key.shape, value.shape) == 10 * 2 * 8 * 16 * 16 * 4
    )


def test_torch_agrees_where_it_counts() -> None:
    """With equal heads, torch's own formula gives the same."""
    query, key, value = (torch.randn(2, 8, 16, 4, device="meta") for _ in range(3))
    totals = []
    for mapping in (None, benchmark_run._ATTENTION):
        with FlopCounterMode(display=False, custom_mapping=mapping) as counted:
            torch.ops.aten._scaled_dot_product_flash_attention(query, key, value)
        totals.append(counted.get_total_flops())
    assert totals[0] == totals[1] > 0

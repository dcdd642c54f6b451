"""The FLOPs of a step with grouped-query attention, also where torch's own count refuses it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("attention_flops.py")
PRODUCT = 2 * 2 * 8 * 16 * 16 * 4  # of one matrix multiplication: batch 2, 8 heads, 16 positions, 4 wide


@pytest.mark.parametrize("heads", [8, 2, 1])
def test_keys_and_values_with_fewer_heads_count_as_those_with_all(heads: int) -> None:
    """Forward: two multiplications. Backward: five, since it computes the scores again."""
    found = json.loads(subprocess.check_output([sys.executable, SCRIPT, str(heads)], text=True, timeout=120))
    assert found["forward"] == 2 * PRODUCT
    assert found["backward"] == 5 * PRODUCT
    if heads == 8:
        assert found["harness"] == found["torch"] == 2 * PRODUCT

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# needs = ["cuda"]
# ablation = { "[::5]" = "[:0]" }
# ///
"""Live tensors pin the segments that they share: emptying the cache returns none of these segments to the GPU."""

import torch

# Tensors of 2 MiB share segments of 20 MiB. One of five lives on.
tensors = [torch.empty(2**21, dtype=torch.uint8, device="cuda") for _ in range(100)]
before = torch.cuda.memory_reserved()
spare = torch.empty(2**27, dtype=torch.uint8, device="cuda")  # pinned by nothing
assert torch.cuda.memory_reserved() >= before + 2**27
del spare
kept = tensors[::5]
del tensors
torch.cuda.empty_cache()

# --8<-- [start:is-it-on]
stats = torch.cuda.memory_stats()
for name in (
    "allocated_bytes.all.current",  # what tensors hold
    "reserved_bytes.all.current",  # what torch has taken from the GPU
    "inactive_split_bytes.all.current",  # free, next to tensors that are not
):
    print(f"{name:>34}: {stats[name] / 2**20:8.1f} MiB")
for name in ("num_alloc_retries", "num_ooms"):
    print(f"{name:>34}: {stats[name]:8}")
# --8<-- [end:is-it-on]

after = stats["reserved_bytes.all.current"]
assert stats["allocated_bytes.all.current"] == len(kept) * 2**21
assert after == before > 4 * stats["allocated_bytes.all.current"], (
    f"{before - after} of {before} bytes went back to the GPU"
)
assert stats["inactive_split_bytes.all.current"] > after / 2, (
    "what is reserved and not allocated is not free next to tensors that are not"
)

# When the last tensor of a segment goes, emptying the cache returns it.
del kept
torch.cuda.empty_cache()
left = torch.cuda.memory_reserved()
assert left < before / 2, f"{left} of {before} bytes are still reserved"

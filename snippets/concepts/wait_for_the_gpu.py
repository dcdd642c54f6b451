# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# needs = ["cuda"]
# ablation = { "    torch.cuda.synchronize()  # wait until it is done" = "    pass" }
# ///
"""A clock that stops before the GPU has finished measures only the launch."""

# --8<-- [start:time]
from time import perf_counter

import torch

matrix = torch.randn(8192, 8192, device="cuda")
matrix @ matrix  # warm up
torch.cuda.synchronize()
done = torch.cuda.Event()


def matmul() -> float:
    start = perf_counter()
    for _ in range(10):
        matrix @ matrix
    done.record()
    torch.cuda.synchronize()  # wait until it is done
    return perf_counter() - start


seconds = matmul()
print(f"{seconds * 100:.1f} ms per matmul, finished: {done.query()}")
# --8<-- [end:time]

assert done.query(), "the clock stopped while the GPU was still working"

# The GPU's own clock gives the same time. Launches alone take far less.
start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
start.record()
before = perf_counter()
for _ in range(10):
    matrix @ matrix
launched = perf_counter() - before
end.record()
torch.cuda.synchronize()
truly = start.elapsed_time(end) / 1000
assert 0.7 < seconds / truly < 1.4, f"{seconds:.3f} s, the GPU says {truly:.3f} s"
assert launched < seconds / 2, (
    f"the launches took {launched:.3f} of {seconds:.3f} s"
)

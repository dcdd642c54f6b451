# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# needs = ["cuda"]
# timeout = 300
# ablation = { "expandable_segments:True" = "expandable_segments:False" }
# ///
"""With expandable segments, batches that grow from step to step reuse the memory of the batches before them."""

import json
import os
import subprocess
import sys

import torch

# In a process of its own, since the allocator reads its settings only once:
# logits that are longer from step to step, each freed before the next.
GROWING = """
import json
import torch

for tokens in range(64, 1025, 64):
    logits = torch.empty(tokens, 50257, device="cuda")
    del logits
# --8<-- [start:is-it-on]
settings = torch.cuda.memory._snapshot()["allocator_settings"]
print("expandable segments:", settings["expandable_segments"])
# --8<-- [end:is-it-on]
stats = torch.cuda.memory_stats()
names = ("allocated_bytes.all.peak", "reserved_bytes.all.current")
print(json.dumps([stats[name] for name in names]))
"""


def grown(settings: str) -> list[int]:
    """The most bytes that were in use at once, and those that are reserved at last."""
    environment = {**os.environ, "PYTORCH_ALLOC_CONF": settings}
    environment.pop("PYTORCH_CUDA_ALLOC_CONF", None)  # the old name
    command = [sys.executable, "-c", GROWING]
    done = subprocess.run(  # noqa: S603 - our own program
        command, env=environment, stdout=subprocess.PIPE, check=True
    )
    said, figures = done.stdout.decode().splitlines()[-2:]
    print(f"{said}, {figures}")
    wanted = f"expandable segments: {settings.rpartition(':')[2]}"
    assert said == wanted, f"the allocator reports {said}, and not {wanted}"
    return json.loads(figures)


print(torch.cuda.get_device_name())
used, scattered = grown("expandable_segments:False")
same, together = grown("expandable_segments:True")

# Each of the 16 sizes is larger than every block that is free. By default it gets
# a segment of its own, 1 + 2 + … + 16 = 136 times the first; else one grows to 16.
assert abs(used - same) < 2**22, f"{used} and {same} bytes are not the same work"
assert scattered > 8 * used, f"{scattered} bytes were reserved for {used}"
assert together < 2 * used, f"{together} bytes were reserved for {used}"

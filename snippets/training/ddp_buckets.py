# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "bucket_cap_mb=0.25" = "bucket_cap_mb=25" }
# ///
"""DDP starts the all-reduce of a bucket before the backward pass ends; bucket_cap_mb sets the size of the buckets."""

import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group()
torch.manual_seed(0)
model = nn.Sequential(*(nn.Linear(256, 256) for _ in range(8))).to(device)

# --8<-- [start:enable]
model = DistributedDataParallel(model, bucket_cap_mb=0.25)  # MiB; 25 by default
# --8<-- [end:enable]
events = []
for number, layer in enumerate(model.module):
    layer.weight.register_hook(lambda _, n=number: events.append(f"layer {n}"))


class AllReduces(TorchDispatchMode):
    """Note when each all-reduce starts, and its bytes."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            events.append(sum(tensor.nbytes for tensor in args[0]))
        return func(*args, **(kwargs or {}))


def step():
    events.clear()
    with AllReduces():
        model(torch.randn(4, 256, device=device)).square().mean().backward()
    return list(events)


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
first, second = step(), step()  # gradients and bytes of all-reduces, as they come
print("step 0:", *first)
print("step 1:", *second)
# --8<-- [end:is-it-on]
shown = [call.args for call in printed.call_args_list]

assert dist.get_world_size() == 2
gradients = sum(p.numel() * 4 for p in model.parameters())
names = [f"layer {number}" for number in range(7, -1, -1)]
assert first == [*names, gradients], "the first step is bucketed by now"
layer = 256 * 256 * 4 + 256 * 4
expected = [entry for name in names for entry in (name, layer)]
assert second == expected, f"{second}: not an all-reduce after each layer"
lines = [("step 0:", *names, gradients), ("step 1:", *expected)]
assert shown == lines, f"printed was {shown}"
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "torch.manual_seed(seed + dist.get_rank())" = "torch.manual_seed(seed)" }
# ///
"""With a seed per rank, dropout differs between ranks, and the weights are those of rank 0 on every rank, because DDP broadcasts them when it wraps the model."""

import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group()
seed = 42


def gather(tensor):
    """Return this tensor of every rank."""
    found = [torch.empty_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(found, tensor.detach().contiguous())
    return found


# --8<-- [start:enable]
torch.manual_seed(seed + dist.get_rank())  # dropout differs between ranks
model = nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.5), nn.Linear(64, 8))
model.to(device)
before = gather(model[0].weight)
model = DistributedDataParallel(
    model
)  # copies rank 0's weights and buffers to all ranks
# --8<-- [end:enable]

printed = patch("builtins.print").start()
everywhere = []
for changed in (0, 1):  # the second time, rank 1 has other weights
    model.module[0].weight.data += changed * dist.get_rank()
    # --8<-- [start:is-it-on]
    ones = torch.ones(4, 64, device=device)
    masks = gather(nn.functional.dropout(ones, 0.5))
    weights = gather(model.module[0].weight)
    print("same dropout:", masks[0].equal(masks[1]))  # on: False, off: True
    print("same weights:", weights[0].equal(weights[1]))  # on: True
    # --8<-- [end:is-it-on]
    everywhere.append(weights)
patch.stopall()
shown = [call.args for call in printed.call_args_list]
for line in shown[:2]:
    print(*line)
weights = everywhere[0]

assert dist.get_world_size() == 2
assert weights[0].equal(weights[1]), "the ranks' weights differ"
assert weights[0].equal(before[0]), "the weights are not rank 0's"
# DDP copies weights once. A rank that changes its own later keeps the difference.
model(ones).square().mean().backward()
one, two = gather(model.module[0].weight)
assert not one.equal(two), "DDP copied the weights again"
one, two = gather(model.module[0].weight.grad)
assert one.equal(two), "the gradients differ"
assert one.any()
assert not masks[0].equal(masks[1]), "the same dropout on both ranks"
assert shown == [
    ("same dropout:", False),
    ("same weights:", True),
    ("same dropout:", False),
    ("same weights:", False),
], f"printed was {shown}"
assert not before[0].equal(before[1]), "the same weights before DDP"
dist.destroy_process_group()

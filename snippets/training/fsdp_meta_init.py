# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "torch.device(\"meta\")" = "torch.device(device)" }
# ///
"""A model on the meta device has no storage: rank 0 alone reads the checkpoint, and broadcasts it into each rank's shards."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    set_model_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard

device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (dist.get_world_size(),))


def build():
    layers = [
        nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
        for _ in range(4)
    ]
    return nn.Sequential(nn.Embedding(256, 64), *layers, nn.Linear(64, 256))


torch.manual_seed(dist.get_rank())
checkpoint = build().state_dict() if dist.get_rank() == 0 else {}
original = [{name: p.clone() for name, p in checkpoint.items()}]

# --8<-- [start:enable]
with torch.device("meta"):
    model = build()
for layer in model[1:-1]:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
assert all(p.is_meta for p in model.parameters())  # no bytes so far

model.to_empty(device=device)  # a rank's shards, uninitialized
set_model_state_dict(
    model,
    checkpoint,  # on rank 0; {} on the others
    options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True),
)
# --8<-- [end:enable]
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
parameters = sum(p.numel() for p in model.parameters())
held = sum(p.to_local().numel() for p in model.parameters())
assert not any(p.is_meta for p in model.parameters())
if dist.get_rank() == 0:
    print(f"this rank holds {held / parameters:.2f} of the parameters")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: half of the parameters, and the values of rank 0's checkpoint.
assert dist.get_world_size() == 2
assert held == parameters // 2
groups = sum(isinstance(module, FSDPModule) for module in model.modules())
assert groups == 4 + 1, f"{groups} groups: four layers and the root"
lines = [] if dist.get_rank() else ["this rank holds 0.50 of the parameters"]
assert shown == lines, f"printed was {shown}"
dist.broadcast_object_list(original)
for name, p in model.named_parameters():
    assert p.full_tensor().cpu().equal(original[0][name]), name
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "dcp.async_save(state, checkpoint_id=folder, process_group=for_saves)" = "Lazy(state)" }
# ///
"""dcp.async_save copies the shards and returns; training changes the weights while a thread writes the copy."""

import tempfile
import threading
from unittest import mock

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (dist.get_world_size(),))
torch.manual_seed(0)
model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(4)]).to(device)
for layer in model:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
box = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
dist.broadcast_object_list(box)
folder = box[0]


class Lazy:
    """What a save without a copy would be: the state is written when somebody waits for it."""

    def __init__(self, state):
        self.state = state

    def result(self):
        """Save."""
        dcp.save(self.state, checkpoint_id=folder)


def train_step():
    model(torch.randn(4, 64, device=device)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    stepped.set()


def write_after_step(*args):
    """Write the files only after a training step, or after 20 seconds."""
    waited.append(stepped.wait(20))
    return write(*args)


def weights():
    return [p.full_tensor().cpu() for p in model.parameters()]


stepped, waited = threading.Event(), []
train_step()
saved = weights()
stepped.clear()
write = dcp.FileSystemWriter.write_data
dcp.FileSystemWriter.write_data = write_after_step
dcp.async_save = mock.Mock(wraps=dcp.async_save)
# --8<-- [start:enable]
for_saves = dist.new_group(backend="gloo")  # the thread communicates through it

weights_now, states_now = get_state_dict(model, optimizer)
state = {"model": weights_now, "optimizer": states_now}
saving = dcp.async_save(state, checkpoint_id=folder, process_group=for_saves)
train_step()
saving.result()  # before the next save, and before the job ends
# --8<-- [end:enable]

# The proof, on each rank: the step moved the weights, and the checkpoint has them as they were
# when async_save was called.
assert dist.get_world_size() == 2
moved = weights()
assert not any(a.equal(b) for a, b in zip(saved, moved, strict=True))
loaded = {"model": get_state_dict(model, optimizer)[0]}
dcp.load(loaded, checkpoint_id=folder)
for (name, tensor), old in zip(loaded["model"].items(), saved, strict=True):
    assert tensor.full_tensor().cpu().equal(old), (
        f"{name} has changed since the save"
    )
metadata = dcp.FileSystemReader(folder).read_metadata().state_dict_metadata
assert any(name.startswith("optimizer.") for name in metadata), (
    "no optimizer states"
)
group = dcp.async_save.call_args.kwargs.get("process_group")
assert group is for_saves, "the thread shares a group with training"
assert group is not dist.group.WORLD
# On a GPU, the default would be NCCL.
assert dist.get_backend(group) == "gloo", "the thread sends through the GPU"
assert saving.done(), "the save has not ended"
assert waited == [True], "training waited for the files"
if dist.get_rank() == 0:
    print("the checkpoint has the weights from before the step")
dist.destroy_process_group()

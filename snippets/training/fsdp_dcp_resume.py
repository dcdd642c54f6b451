# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# ablation = { "dcp.load(state, checkpoint_id=folder, process_group=group)" = "" }
# ///
"""A distributed checkpoint of four ranks resumes on two: dcp.load reads for each rank the pieces that its shards need."""

import tempfile
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import checkpoint as dcp
from torch.distributed.checkpoint.state_dict import (
    get_state_dict,
    set_state_dict,
)
from torch.distributed.checkpoint.stateful import Stateful
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard

device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group(timeout=timedelta(seconds=30))
mesh = init_device_mesh(device, (dist.get_world_size(),))


# --8<-- [start:enable]
class AppState(Stateful):
    """Model and optimizer, under the names that one process would use."""

    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def state_dict(self):
        """Return what dcp.save writes."""
        weights, states = get_state_dict(self.model, self.optimizer)
        return {"model": weights, "optimizer": states}

    def load_state_dict(self, state):
        """Put in what dcp.load has read."""
        set_state_dict(
            self.model,
            self.optimizer,
            model_state_dict=state["model"],
            optim_state_dict=state["optimizer"],
        )


def save(model, optimizer, folder):  # on every rank
    dcp.save({"app": AppState(model, optimizer)}, checkpoint_id=folder)


def resume(model, optimizer, folder, group=None):  # on every rank of the new job
    state = {"app": AppState(model, optimizer)}
    dcp.load(state, checkpoint_id=folder, process_group=group)


# --8<-- [end:enable]
def sharded(mesh, seed):
    torch.manual_seed(seed)
    model = nn.Sequential(
        nn.Embedding(256, 64),
        *[nn.Sequential(nn.Linear(64, 256), nn.Linear(256, 64)) for _ in range(2)],
        nn.Linear(64, 256),
    ).to(device)
    for layer in model[1:-1]:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)


def train_step(model, optimizer, tokens):
    nn.functional.cross_entropy(model(tokens), tokens).backward()
    optimizer.step()
    optimizer.zero_grad()


def weights(model):
    return [p.full_tensor().cpu() for p in model.parameters()]


def moments(model, optimizer):
    states = [optimizer.state[p]["exp_avg"] for p in model.parameters()]
    return [state.full_tensor().cpu() for state in states]


assert dist.get_world_size() == 4
model, optimizer = sharded(mesh, seed=0)
torch.manual_seed(7)
tokens = torch.randint(256, (32,), device=device)
train_step(model, optimizer, tokens)
box = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
dist.broadcast_object_list(box)
save(model, optimizer, box[0])
saved_weights, saved_moments = weights(model), moments(model, optimizer)
train_step(model, optimizer, tokens)
continued = weights(model)

# The new job: ranks 0 and 1, with other weights until they resume. The proof, on both: they hold half
# instead of a quarter, have the saved weights and moments, and take the same next step.
pair = dist.new_group([0, 1])
if dist.get_rank() < 2:
    small = DeviceMesh.from_group(pair, device)
    model, optimizer = sharded(small, seed=1)
    resume(model, optimizer, box[0], pair)
    for ours, theirs in zip(weights(model), saved_weights, strict=True):
        assert ours.equal(theirs), "the weights are not those of the checkpoint"
    for ours, theirs in zip(moments(model, optimizer), saved_moments, strict=True):
        assert ours.equal(theirs), "the moments are not those of the checkpoint"
    held = sum(p.to_local().numel() for p in model.parameters())
    parameters = sum(p.numel() for p in model.parameters())
    assert held == parameters // 2
    train_step(model, optimizer, tokens)
    for ours, theirs in zip(weights(model), continued, strict=True):
        torch.testing.assert_close(ours, theirs)
    if dist.get_rank() == 0:
        print(
            f"resumed; a rank now holds {held / parameters:.2f} of the parameters"
        )
dist.barrier()
dist.destroy_process_group()

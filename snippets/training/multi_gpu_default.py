# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# timeout = 120
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "(world // per_node, per_node)" = "(world, 1)" }
# ///
"""A complete training script for one or many machines: FSDP2 within a node, replicas across nodes, one loss per global token."""

import os
from collections import Counter
from contextlib import ExitStack
from unittest.mock import patch

import torch.distributed as dist
from torch.utils._python_dispatch import TorchDispatchMode

# Four ranks on a CPU stand for two nodes with two GPUs each.
os.environ["LOCAL_WORLD_SIZE"] = "2"

# --8<-- [start:enable]
import os

import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.data import DataLoader, DistributedSampler
from transformers import AutoModelForCausalLM

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.distributed.init_process_group()
rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
per_node = int(os.environ["LOCAL_WORLD_SIZE"])  # torchrun sets it
if device == "cuda":
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))

# Shards of the weights within a node, copies of them across nodes.
mesh = init_device_mesh(
    device, (world // per_node, per_node), mesh_dim_names=("nodes", "gpus")
)
torch.manual_seed(0)  # the same initial weights everywhere
model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.float32
)
model.activation_checkpointing_enable()
model.train()  # transformers loads in evaluation mode, which checkpoints nothing
policy = MixedPrecisionPolicy(
    param_dtype=torch.bfloat16, reduce_dtype=torch.float32
)
for layer in model.model.layers:
    fully_shard(layer, mesh=mesh, mp_policy=policy)
fully_shard(model, mesh=mesh, mp_policy=policy)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

torch.manual_seed(1)
rows = torch.randint(3, 500, (64, 32))  # your tokenized data set
sampler = DistributedSampler(rows, shuffle=True, seed=0)
loader = DataLoader(rows, batch_size=2, sampler=sampler, drop_last=True)
accumulation = 2  # micro-batches per optimizer step


def train(epoch, steps):
    """Train on this rank's share of an epoch, and return the loss per step."""
    losses = []
    sampler.set_epoch(epoch)  # another order in each epoch
    batches = iter(loader)
    for _ in range(steps):
        parts = [next(batches).to(device) for _ in range(accumulation)]
        # One loss per token of the global batch, however long each rank's sequences are.
        tokens = torch.tensor(
            sum(part[:, 1:].numel() for part in parts), device=device
        )
        torch.distributed.all_reduce(tokens)
        total = torch.zeros((), device=device)
        for index, part in enumerate(parts):
            model.set_requires_gradient_sync(index == accumulation - 1)
            logits = model(input_ids=part, use_cache=False).logits[:, :-1]
            loss = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1).float(), part[:, 1:].flatten(), reduction="sum"
            )
            # FSDP2 averages gradients over the ranks: multiply by their number.
            (loss * world / tokens).backward()
            total += loss.detach()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        torch.distributed.all_reduce(total)
        losses.append((total / tokens).item())
    return losses


# --8<-- [end:enable]
start = {name: p.full_tensor().clone() for name, p in model.named_parameters()}
plain = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.bfloat16
)


class Collectives(TorchDispatchMode):
    """Count the collectives by name."""

    def __init__(self):
        super().__init__()
        self.calls, self.reduced = Counter(), set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "c10d":
            name = func.name().removeprefix("c10d::").strip("_")
            self.calls[name] += 1
            if name.startswith("reduce_scatter"):
                self.reduced.add(args[0].dtype)
        return func(*args, **(kwargs or {}))


gathered = []  # the type of a layer's weight in each forward pass
hook = model.model.layers[0].mlp.up_proj.register_forward_hook(
    lambda module, *_: gathered.append(module.weight.dtype)
)
norms, clip = [], torch.nn.utils.clip_grad_norm_


def clip_and_note(parameters, most):
    norms.append((clip(parameters, most), most))


torch.nn.utils.clip_grad_norm_ = clip_and_note
epochs, set_epoch = [], sampler.set_epoch
sampler.set_epoch = lambda epoch: epochs.append(epoch) or set_epoch(epoch)
stack = ExitStack()
counter = stack.enter_context(Collectives())
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:run]
steps = len(loader) // accumulation  # optimizer steps per epoch
for epoch in range(1):
    losses = train(epoch, steps)
    if rank == 0:
        print(f"epoch {epoch}: loss {losses[-1]:.3f}")
# --8<-- [end:run]
stack.close()
hook.remove()
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
torch.nn.utils.clip_grad_norm_ = clip
# --8<-- [start:save]
weights, states = get_state_dict(model, optimizer)  # every rank calls both
dcp.save({"model": weights, "optimizer": states}, checkpoint_id="checkpoint")
# --8<-- [end:save]

# --8<-- [start:is-it-on]
held = sum(p.to_local().numel() for p in model.parameters())
share = held / sum(p.numel() for p in model.parameters())
print(
    f"rank {rank} of {world}: {share:.3f} of the parameters"
)  # on: 1 / GPUs per node
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list]

# The proof, on each rank. Two ranks share the weights, and two pairs have copies.
assert world == 4, f"{world} ranks run"
assert [mesh[name].size() for name in ("nodes", "gpus")] == [2, 2], mesh
assert abs(share - 0.5) < 0.02, f"this rank holds {share:.3f} of the parameters"

# One reduce-scatter and one all-reduce per layer, for the root and per step, although each step has two micro-batches.
groups = model.config.num_hidden_layers + 1
calls = counter.calls
assert steps == len(losses) == 4, losses
assert calls["reduce_scatter_base"] == steps * groups, calls
assert calls["allgather_base"] >= 2 * steps * groups, calls
assert calls["allreduce"] >= steps * (groups + 2), (
    calls
)  # and the sums of tokens and losses

# It gathers bf16, reduces fp32, and computes each layer twice, since activations are checkpointed.
assert set(gathered) == {torch.bfloat16}, set(gathered)
assert len(gathered) == 2 * steps * accumulation, f"{len(gathered)} forward passes"
assert counter.reduced == {torch.float32}, counter.reduced
assert {p.dtype for p in model.parameters()} == {torch.float32}

# The first loss is that of one process over the global batch, and every rank has the same ones.
losses_of_ranks = [None] * world
dist.all_gather_object(losses_of_ranks, losses)
assert len(set(map(tuple, losses_of_ranks))) == 1, losses_of_ranks
shares = [
    list(DistributedSampler(rows, world, r, seed=0))[:4] for r in range(world)
]
mine = [index for indices in shares for index in indices]
assert len(set(mine)) == 16, "two ranks read the same rows"
assert list(sampler)[:4] == shares[rank], "this rank has another order of rows"
assert epochs == [0], f"set_epoch was called for {epochs}"
batch = rows[mine]
with torch.no_grad():
    expected = plain(input_ids=batch, labels=batch).loss.item()
assert abs(losses[0] - expected) < 0.01 * expected, (losses, expected)
texts = [f"epoch 0: loss {losses[3]:.3f}"] if rank == 0 else []
texts.append(f"rank {dist.get_rank()} of 4: 0.500 of the parameters")
assert shown == texts, f"printed was {shown}"

# So is the norm of the first gradient, which is clipped in each step.
assert [most for _, most in norms] == [1.0] * steps, norms
exact = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.float32
)
exact(input_ids=batch, labels=batch).loss.backward()
expected = clip(exact.parameters(), 1.0).item()
found = norms[0][0].full_tensor().item()
assert abs(found - expected) < 0.03 * expected, (found, expected)

# The step changed the weights, and all ranks have the same ones.
for name, parameter in model.named_parameters():
    now = parameter.full_tensor()
    other = now.clone()
    dist.broadcast(other, 0)
    assert torch.equal(now, other), f"{name} differs between the nodes"
assert any(
    not torch.equal(p.full_tensor(), start[name])
    for name, p in model.named_parameters()
)

# The checkpoint restores weights and optimizer states.
kept = [p.to_local().clone() for p in model.parameters()]
with torch.no_grad():
    for parameter in model.parameters():
        parameter.to_local().zero_()
weights, states = get_state_dict(model, optimizer)
dcp.load({"model": weights, "optimizer": states}, checkpoint_id="checkpoint")
set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=states)
restored = [p.to_local() for p in model.parameters()]
assert all(torch.equal(a, b) for a, b in zip(kept, restored, strict=True))
dist.destroy_process_group()

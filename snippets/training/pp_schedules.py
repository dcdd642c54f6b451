# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# timeout = 120
# ablation = { "Schedule1F1B(stage" = "ScheduleGPipe(stage" }
# ///
"""1F1B computes GPipe's gradients with 4, 3, 2 and 1 live micro-batches on four ranks instead of 8 on each."""

import copy
from itertools import accumulate
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

torch.manual_seed(0)
layers = nn.ModuleList(
    nn.Sequential(nn.Linear(32, 32), nn.Tanh()) for _ in range(8)
)
whole = copy.deepcopy(nn.Sequential(*layers))
inputs, targets = torch.randn(16, 32), torch.randn(16, 32)
changes = []  # +1 for a forward pass, -1 for its backward pass


def loss_of(output, target):
    return nn.functional.mse_loss(output, target)


# --8<-- [start:enable]
dist.init_process_group()
rank, ranks = dist.get_rank(), dist.get_world_size()
device = (
    torch.device("cuda", dist.get_node_local_rank())
    if torch.cuda.is_available()
    else torch.device("cpu")
)

each = len(layers) // ranks
part = nn.Sequential(*layers[rank * each : (rank + 1) * each]).to(device)
stage = PipelineStage(part, rank, ranks, device)
schedule = Schedule1F1B(stage, n_microbatches=8, loss_fn=loss_of)


def step(schedule):
    """Run all micro-batches forward and backward; return the losses on the last rank."""
    losses = []
    if rank == 0:
        schedule.step(inputs.to(device))
    elif rank == ranks - 1:
        schedule.step(target=targets.to(device), losses=losses)
    else:
        schedule.step()
    return losses


# --8<-- [end:enable]


def count(_module, _inputs, output):
    """Count a micro-batch from its forward pass to its backward pass."""
    changes.append(1)
    if output.requires_grad:
        output.register_hook(lambda _: changes.append(-1))


part[0].register_forward_hook(count)


def second_step(schedule):
    """Take a step that also infers shapes, and count the next one."""
    step(schedule)
    part.zero_grad()
    changes.clear()
    return step(schedule)


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
losses = second_step(schedule)
counts = torch.zeros(ranks, dtype=torch.long, device=device)
counts[rank] = max(
    accumulate(changes)
)  # the most micro-batches that this rank held at once
dist.all_reduce(counts)
if rank == 0:
    print("1F1B holds", counts.tolist(), "micro-batches")
# --8<-- [end:is-it-on]

# The proof, on each rank: the live micro-batches of 1F1B, those of GPipe, and the gradients of one process.
assert ranks == 4
assert counts.tolist() == [4, 3, 2, 1], counts.tolist()
if rank == 0:
    shown = " ".join(map(str, printed.call_args.args))
    assert shown == "1F1B holds [4, 3, 2, 1] micro-batches", f"printed was {shown}"
nn.functional.mse_loss(whole(inputs), targets).backward()
expected = [
    p.grad
    for layer in whole[rank * each : (rank + 1) * each]
    for p in layer.parameters()
]


def apart() -> float:
    return max(
        float((p.grad.cpu() - q).norm() / q.norm())
        for p, q in zip(part.parameters(), expected, strict=True)
    )


assert apart() < 1e-5, apart()
assert len(losses) == (8 if rank == 3 else 0)
second_step(
    ScheduleGPipe(
        PipelineStage(part, rank, ranks, device), n_microbatches=8, loss_fn=loss_of
    )
)
assert max(accumulate(changes)) == 8, changes
assert sum(changes) == 0
assert apart() < 1e-5, apart()
if rank == 0:
    print("GPipe holds 8 on each rank")
dist.destroy_process_group()

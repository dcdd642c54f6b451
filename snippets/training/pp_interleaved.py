# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# timeout = 120
# ablation = { "style=\"v\"" = "style=\"loop\"", "ScheduleZBVZeroBubble(" = "ScheduleInterleaved1F1B(" }
# ///
"""Two stages per GPU: interleaved 1F1B sends over seven boundaries, and ZBV over six, because its fold is on one GPU."""

import copy
from itertools import accumulate
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import (
    PipelineStage,
    ScheduleInterleaved1F1B,
    ScheduleZBVZeroBubble,
    schedules,
)
from torch.distributed.pipelining._utils import generate_rank_to_stage_mapping

torch.manual_seed(0)
parts = nn.ModuleList(nn.Sequential(nn.Linear(32, 32), nn.Tanh()) for _ in range(8))
whole = copy.deepcopy(nn.Sequential(*parts))
inputs, targets = torch.randn(16, 32), torch.randn(16, 32)
sent = []


def record(operations, desc=None):
    """Note what this rank sends, and send it."""
    sent.extend(op.tensor.nbytes for op in operations if op.op is dist.isend)
    return original(operations, desc)


original, schedules._batch_p2p = schedules._batch_p2p, record  # noqa: SLF001


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


def stages(numbers):
    """Return the stages of this rank."""
    return [
        PipelineStage(parts[n].to(device), n, len(parts), device) for n in numbers
    ]


interleaved = ScheduleInterleaved1F1B(
    stages([rank, rank + ranks]), n_microbatches=8, loss_fn=loss_of
)
# The stages of ZBV go down and up again: rank 0 has the first and the last.
numbers = generate_rank_to_stage_mapping(ranks, len(parts), style="v")[rank]
zero_bubble = ScheduleZBVZeroBubble(
    stages(numbers), n_microbatches=8, loss_fn=loss_of
)
# --8<-- [end:enable]


def bytes_sent(schedule, numbers) -> int:
    """Take a step, and return the bytes that all ranks send."""
    parts.zero_grad()
    sent.clear()
    inputs_here = (inputs.to(device),) if rank == 0 else ()
    target = {"target": targets.to(device)} if len(parts) - 1 in numbers else {}
    schedule.step(*inputs_here, **target)
    assert set(sent) == {inputs.nbytes // 8}, f"not micro-batches: {set(sent)}"
    total = torch.tensor(sum(sent), device=device)
    dist.all_reduce(total)
    return int(total)


def apart(numbers) -> float:
    """Compare the gradients of this rank's stages with those of one process."""
    pairs = (
        (p, q)
        for n in numbers
        for p, q in zip(parts[n].parameters(), whole[n].parameters(), strict=True)
    )
    return max(
        float((p.grad.cpu() - q.grad).norm() / q.grad.norm()) for p, q in pairs
    )


def live(schedule) -> float:
    """Return the most micro-batches that this rank holds; with two stages, each counts half."""
    order = schedule.pipeline_order[rank]
    kinds = [op.computation_type.value for op in order if op]
    frees = "W" if "W" in kinds else "B"
    return max(accumulate((kind == "F") - (kind == frees) for kind in kinds)) / 2


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
one = inputs.nbytes // 8  # the hidden states of a micro-batch
found = bytes_sent(interleaved, [rank, rank + ranks]) / one
loss_of(whole(inputs), targets).backward()
errors = [apart([rank, rank + ranks])]
folded = bytes_sent(zero_bubble, numbers) / one
errors.append(apart(numbers))
if rank == 0:
    print(f"interleaved 1F1B: {found:g} messages; ZBV: {folded:g}")
# --8<-- [end:is-it-on]

# The proof, on each rank: forward and backward, 8 micro-batches cross 7 or 6 boundaries, with one process's gradients.
# A schedule that runs all forward passes first would send as much, and hold all 8.
assert ranks == 4
assert found == 2 * 8 * 7, found
assert folded == 2 * 8 * 6, folded
assert sorted(numbers) == [rank, 7 - rank], numbers
assert max(errors) < 1e-5, errors
assert live(interleaved) == (5.5, 4.5, 3.5, 2.5)[rank], live(interleaved)
assert live(zero_bubble) == 4, live(zero_bubble)
if rank == 0:
    shown = printed.call_args.args[0]
    assert shown == "interleaved 1F1B: 112 messages; ZBV: 96", (
        f"printed was {shown}"
    )
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "model.register_comm_hook(state, powerSGD_hook)" = "pass" }
# ///
"""PowerSGD sends two thin factors of each gradient matrix; what they leave out is added to the next step's gradient."""

import copy
import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import (
    PowerSGDState,
    powerSGD_hook,
)
from torch.nn.parallel import DistributedDataParallel

device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group()
torch.manual_seed(0)
plain = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)).to(device)
reference = DistributedDataParallel(copy.deepcopy(plain))
model = DistributedDataParallel(plain)
steps = 40
torch.manual_seed(1 + dist.get_rank())
batches = torch.randn(steps, 16, 64, device=device)


def shares(model, batches):
    """Return the bytes that the hook sends in each step, over those of the gradients."""
    whole = sum(p.nbytes for p in model.parameters())
    found = []
    for batch in batches:
        model.zero_grad()
        with patch.object(dist, "all_reduce", wraps=dist.all_reduce) as all_reduce:
            model(batch).square().mean().backward()
        sent = [call.args[0].nbytes for call in all_reduce.call_args_list]
        found.append(sum(sent) / whole)
    return found


# --8<-- [start:enable]
state = PowerSGDState(
    process_group=None,
    matrix_approximation_rank=4,
    start_powerSGD_iter=steps // 10,  # whole gradients until then; 2 or more
)
model.register_comm_hook(state, powerSGD_hook)
# --8<-- [end:enable]
sent = shares(model, batches)
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
rate, before, after = state.compression_stats()  # 0, 0, 0 until compression starts
print(f"{rate:.1f} times fewer numbers sent since compression started")
# --8<-- [end:is-it-on]
line = printed.call_args.args[0]

assert dist.get_world_size() == 2
# A matrix of n x m sends rank * (n + m) numbers; vectors are sent whole.
matrices = [p.shape for p in model.parameters() if p.ndim == 2]
vectors = sum(p.numel() for p in model.parameters() if p.ndim == 1)
numbers = sum(p.numel() for p in model.parameters())
thin = 4 * sum(n + m for n, m in matrices) + vectors
assert sent[:4] == [1.0] * 4, f"{sent[:4]}: compressed too early"
assert sent[4:] == [thin / numbers] * 36, f"{sent[4]} is not {thin / numbers}"
assert (before, after) == (36 * numbers, 36 * thin), f"{before}, {after}"
assert line.startswith(f"{numbers / thin:.1f} times fewer"), f"printed was {line}"
# Before compression starts, the numbers are 0.
early = PowerSGDState(None, matrix_approximation_rank=4, start_powerSGD_iter=2)
assert early.compression_stats() == (0, 0, 0)
kept = sum(error.numel() for error in state.error_dict.values())
assert kept == numbers, f"{kept} numbers are kept for the next step, of {numbers}"
for p in model.parameters():
    both = [torch.empty_like(p) for _ in range(2)]
    dist.all_gather(both, p.grad)
    assert torch.equal(*both), "the ranks have different gradients"
    # A matrix of rank 4 at most, and not the exact gradient.
    assert p.ndim == 1 or torch.linalg.matrix_rank(p.grad, rtol=1e-4) == 4

# The first compressed step: what was sent and what was left out are the gradient,
# so nothing is lost. The next step starts with what was left out.
fresh = DistributedDataParallel(copy.deepcopy(reference.module))
once = PowerSGDState(None, matrix_approximation_rank=4, start_powerSGD_iter=2)
fresh.register_comm_hook(once, powerSGD_hook)
shares(fresh, batches[:3])
shares(reference, batches[:3])
exact = [p.grad for p in reference.parameters()]
left_out = torch.cat(list(once.error_dict.values()))
assert left_out.numel() == numbers, (
    "the kept errors are not one copy of the gradients"
)
dist.all_reduce(left_out)
sent_part = sum(p.grad.sum().double() for p in fresh.parameters())
total = sum(g.sum().double() for g in exact)
torch.testing.assert_close(sent_part + left_out.sum() / 2, total, check_dtype=False)
parts = torch.cat([p.grad.flatten() for p in fresh.parameters()])
whole = torch.cat([g.flatten() for g in exact])
squares = parts.square().sum() + (left_out / 2).square().sum()  # at right angles
torch.testing.assert_close(squares, whole.square().sum(), rtol=1e-3, atol=0)
assert (left_out / 2).norm() > 0.05 * whole.norm(), "rank 4 lost nothing"
fresh.zero_grad()
(0 * fresh(batches[0])).sum().backward()  # a gradient of zero
again = torch.cat([p.grad.flatten() for p in fresh.parameters()])
assert 0.1 < again.norm() / (left_out / 2).norm() <= 1, "nothing was caught up on"

# Gradients of rank 4 at most come through exactly: two rows on each of two ranks.
few = batches[:3, :2]
few_model = DistributedDataParallel(copy.deepcopy(reference.module))
few_state = PowerSGDState(None, matrix_approximation_rank=4, start_powerSGD_iter=2)
few_model.register_comm_hook(few_state, powerSGD_hook)
shares(few_model, few)
shares(reference, few)
for p, q in zip(few_model.parameters(), reference.parameters(), strict=True):
    torch.testing.assert_close(p.grad, q.grad, rtol=1e-3, atol=1e-6)
dist.destroy_process_group()

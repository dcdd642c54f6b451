# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "clip_grads_with_norm_(group, max_norm, total)" = "pass" }
# ///
"""Fused AdamW and gradient clipping of a tensor-parallel model: matrices and norms in separate groups, with one norm over both."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from torch.nn.utils import (
    clip_grad_norm_,
    clip_grads_with_norm_,
    get_total_norm,
)
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig

checkpoint = "HuggingFaceTB/SmolLM2-135M"
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.float32,
    distributed_config=DistributedConfig(tp_size=2),
)
torch.manual_seed(0)
batch = torch.randint(100, (2, 64)).to(model.device)
model(input_ids=batch, labels=batch).loss.backward()


# --8<-- [start:enable]
def by_mesh(model):
    """Return the parameters of each device mesh, and those without one."""
    groups = {}
    for p in model.parameters():
        groups.setdefault(getattr(p, "device_mesh", None), []).append(p)
    return list(groups.values())


def clip(model, max_norm):
    """Clip the gradients to a norm over all parameters, and return that norm."""
    groups = by_mesh(model)
    norms = [get_total_norm([p.grad for p in group]) for group in groups]
    # a plain tensor from each DTensor
    whole = [n.full_tensor() if isinstance(n, DTensor) else n for n in norms]
    total = torch.stack(whole).norm()
    for group in groups:
        clip_grads_with_norm_(group, max_norm, total)
    return total


optimizer = torch.optim.AdamW(
    [{"params": group} for group in by_mesh(model)], fused=True
)
# --8<-- [end:enable]

before = [
    p.grad.full_tensor().clone() if isinstance(p.grad, DTensor) else p.grad.clone()
    for p in model.parameters()
]
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
norm = clip(model, max_norm=0.5)
optimizer.step()
print(f"gradient norm {norm.item():.4f} before clipping")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

# The proof, on each rank: the norm is that of one process, and all gradients are scaled to half.
assert dist.get_world_size() == 2
assert isinstance(model.model.layers[0].self_attn.q_proj.weight, DTensor)
assert not isinstance(model.model.norm.weight, DTensor)
whole = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
whole(input_ids=batch.cpu(), labels=batch.cpu()).loss.backward()
one = clip_grad_norm_(whole.parameters(), 0.5)
assert norm > 0.5, norm
assert abs(norm.item() - one.item()) < 1e-5 * one.item(), (norm, one)
expected = f"gradient norm {norm.item():.4f} before clipping"
assert shown == expected, f"printed was {shown}"
for p, q, old in zip(model.parameters(), whole.parameters(), before, strict=True):
    full = p.grad.full_tensor() if isinstance(p.grad, DTensor) else p.grad
    assert (full.cpu() - q.grad).norm() < 1e-4 * q.grad.norm()
    assert full.norm() < old.norm()
assert all(group["fused"] for group in optimizer.param_groups), "AdamW is not fused"
assert len(optimizer.state) == len(list(model.parameters()))


def error_of(call) -> str:
    """Return the message with which a call fails, or nothing."""
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return ""


# The calls that mix both kinds fail.
parameters = list(model.parameters())
mixed = "got mixed torch.Tensor and DTensor"
assert mixed in error_of(lambda: clip_grad_norm_(parameters, 0.5))
for option in ("fused", "foreach"):
    step = torch.optim.AdamW(parameters, **{option: True}).step
    assert mixed in error_of(step), option
dist.destroy_process_group()

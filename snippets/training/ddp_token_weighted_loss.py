# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "return total * dist.get_world_size() / labels" = "return total / (targets != -100).sum()" }
# ///
"""Divided by the labels of all ranks and multiplied by their number, the loss has the gradients of one GPU with the whole batch."""

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
torch.manual_seed(0)
plain = nn.Sequential(nn.Embedding(50, 32), nn.Linear(32, 50)).to(device)
tokens = torch.randint(0, 50, (4, 16), device=device)
targets = tokens.roll(-1, 1)
targets[:2, 2:] = -100  # rank 0 has 4 labels, and rank 1 has 32
nn.functional.cross_entropy(
    plain(tokens).flatten(0, 1), targets.flatten()
).backward()
whole = [p.grad.clone() for p in plain.parameters()]
plain.zero_grad()
rows = slice(2 * dist.get_rank(), 2 * dist.get_rank() + 2)
tokens, targets = tokens[rows], targets[rows]
model = DistributedDataParallel(plain)


# --8<-- [start:enable]
def loss_of(logits, targets):
    labels = (targets != -100).sum()
    dist.all_reduce(labels)  # the labels of all ranks
    total = nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
    )
    return total * dist.get_world_size() / labels  # DDP divides by the world size


loss_of(model(tokens), targets).backward()
# --8<-- [end:enable]


def apart():
    """Return the largest relative error of a gradient against one GPU's."""
    pairs = zip(model.parameters(), whole, strict=True)
    return max(((p.grad - g).norm() / g.norm()).item() for p, g in pairs)


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
print(f"rank {dist.get_rank()}: {(targets != -100).sum()} labels,", end=" ")
print(f"gradients differ by {apart():.1e} from those of one GPU")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

assert dist.get_world_size() == 2
assert (targets != -100).sum() == (32 if dist.get_rank() else 4)
assert apart() < 1e-5, f"the gradients differ by {apart():.1e}"
assert shown == [
    ("rank 1: 32 labels," if dist.get_rank() else "rank 0: 4 labels,"),
    f"gradients differ by {apart():.1e} from those of one GPU",
], f"printed was {shown}"
model.zero_grad()
nn.functional.cross_entropy(
    model(tokens).flatten(0, 1), targets.flatten()
).backward()
print(f"with each rank's own mean, by {apart():.1e}")
assert apart() > 0.1, "the mean of means has the same gradients"
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "dataset, range(rank, len(dataset), world)" = "dataset, list(DistributedSampler(dataset, shuffle=False))" }
# ///
"""Sums and counts over all ranks give the accuracy of one GPU; DistributedSampler evaluates some samples twice, and a mean of means weighs them unequally."""

import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, Subset, TensorDataset

device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group()
rank, world = dist.get_rank(), dist.get_world_size()
labels = torch.tensor([1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
dataset = TensorDataset(torch.eye(11), labels)
model = torch.nn.Linear(11, 2, device=device)
torch.nn.init.zeros_(model.weight)
with torch.no_grad():
    model.bias.copy_(torch.tensor([0.0, 1.0]))  # always says 1: 2 of 11 are right

# --8<-- [start:enable]
part = Subset(dataset, range(rank, len(dataset), world))  # each sample once
found = torch.zeros(2, device=device)
model.eval()
with torch.no_grad():
    for inputs, labels in DataLoader(part, batch_size=2):
        right = model(inputs.to(device)).argmax(-1) == labels.to(device)
        found += torch.stack([right.sum(), torch.tensor(len(right), device=device)])
dist.all_reduce(found)  # sums over all ranks
right, count = found.tolist()
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
print(f"{right:.0f} of {count:.0f} right, in a data set of {len(dataset)}")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert world == 2
assert 2 * len(list(DistributedSampler(dataset))) == 12, "no sample comes twice"
with torch.no_grad():
    said = model(torch.stack([x for x, _ in part]).to(device)).argmax(-1)
own = (said == torch.stack([y for _, y in part]).to(device)).float().mean()
dist.all_reduce(own)
assert abs(own / 2 - 2 / 11) > 0.001, "the mean of means is the accuracy"
assert (right, count) == (2, 11), f"{right} of {count}"
assert shown == "2 of 11 right, in a data set of 11", f"printed was {shown}"
dist.destroy_process_group()

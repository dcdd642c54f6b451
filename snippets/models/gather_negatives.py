# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "dist.all_reduce(gradient)" = "pass" }
# ///
"""Negatives from all ranks: with a gather whose backward pass adds up the ranks' gradients, DDP has the gradients of one process with the whole batch. With dist.all_gather alone, it has others."""

import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy, normalize
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")  # a CPU is enough to see it
rank, ranks = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 32))
alone = copy.deepcopy(encoder)
model = DistributedDataParallel(encoder)
pairs = torch.randn(2, 8, 16)  # the same on each rank: questions and passages


# --8<-- [start:enable]
class Gather(torch.autograd.Function):
    """Gather the rows of all ranks, and send each row's gradients back to its rank."""

    @staticmethod
    def forward(ctx, mine):  # noqa: ARG004 - PyTorch passes it
        rows = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
        dist.all_gather(rows, mine.contiguous())  # alone, it cuts the graph
        return torch.cat(rows)

    @staticmethod
    def backward(ctx, gradient):  # noqa: ARG004
        gradient = gradient.clone()
        dist.all_reduce(gradient)  # each rank's loss has a gradient for these rows
        return gradient.chunk(dist.get_world_size())[dist.get_rank()]


def loss_of_rank(questions, mine, temperature=0.05):
    """Return the loss of this rank's questions over the passages of all ranks."""
    passages = Gather.apply(mine)
    scores = questions @ passages.T / temperature
    first = dist.get_rank() * len(questions)  # where this rank's passages are
    labels = torch.arange(len(questions), device=scores.device) + first
    return cross_entropy(scores, labels)


# --8<-- [end:enable]


def put_back(mine):
    """Gather without gradients, and put the own rows with their graph back."""
    rows = [torch.empty_like(mine) for _ in range(ranks)]
    dist.all_gather(rows, mine)
    rows[rank] = mine
    return torch.cat(rows)


def loss_of_batch(question, passage):
    return cross_entropy(question @ passage.T / 0.05, torch.arange(len(question)))


def cut_loss(question, mine):
    scores = question @ put_back(mine).T / 0.05
    return cross_entropy(scores, torch.arange(4) + 4 * rank)


def whole_loss_on_each_rank(question, mine):
    return loss_of_batch(put_back(question), put_back(mine))


def gradients(loss_of, network, rows):
    network.zero_grad()
    vectors = normalize(network(pairs[:, rows].flatten(0, 1)), dim=-1)
    loss_of(*vectors.chunk(2)).backward()
    return torch.cat([p.grad.flatten() for p in network.parameters()])


assert ranks == 2
rows = slice(4 * rank, 4 * rank + 4)
wanted = gradients(loss_of_batch, alone, slice(None))
found = gradients(loss_of_rank, model, rows)
own = gradients(loss_of_batch, model, rows)
cut = gradients(cut_loss, model, rows)
whole = gradients(whole_loss_on_each_rank, model, rows)


def off(one):
    return ((one - wanted).norm() / wanted.norm()).item()


if rank == 0:
    print(f"gather with gradients: {off(found):.0e} from one process")
    print(f"dist.all_gather, own rows put back: {off(cut):.1e}")
    print(f"negatives of the own rank only: {off(own):.1e}")
    share = (whole.norm() / wanted.norm()).item()
    print(f"own rows put back, whole loss on each rank: {share:.2f} of it")
# Controls: negatives of one rank, and a gather without gradients, give other gradients.
assert off(own) > 0.1
assert off(cut) > 0.1
# The whole loss on each rank, with the own rows put back, gives the gradients divided by the ranks.
assert torch.allclose(whole * ranks, wanted, rtol=1e-4, atol=1e-6)
assert torch.allclose(found, wanted, rtol=1e-4, atol=1e-6), f"{off(found):.1e}"
dist.destroy_process_group()

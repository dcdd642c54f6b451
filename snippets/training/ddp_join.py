# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "with model.join():" = "if True:" }
# ///
"""With join, ranks with different numbers of batches finish their epoch: a rank without data takes part in the all-reduces of the others with gradients of zero."""

import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(64, 8).to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = torch.randn(7 if dist.get_rank() else 5, 4, 64, device=device)


# --8<-- [start:enable]
def train(batches):
    with model.join():  # around the whole epoch
        for inputs in batches:
            model(inputs).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()


# --8<-- [end:enable]


class AllReduces(TorchDispatchMode):
    """Count the all-reduces of all gradients."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            self.count += sum(tensor.nbytes for tensor in args[0]) == gradients
        return func(*args, **(kwargs or {}))


gradients = sum(p.nbytes for p in model.parameters())
if dist.get_rank() == 0:
    with AllReduces() as reductions:
        train(batches)
    # Without join, rank 0 ends here, and rank 1 waits for it in its sixth all-reduce.
    assert reductions.count == 7, (
        f"rank 0 took part in {reductions.count} all-reduces"
    )
else:
    with AllReduces() as reductions:
        train(batches)
    assert reductions.count == 7, (
        f"rank 1 took part in {reductions.count} all-reduces"
    )

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
own = torch.tensor([len(batches), reductions.count], device=device)
ranks = [torch.empty_like(own) for _ in range(dist.get_world_size())]
dist.all_gather(ranks, own)
print("batches and all-reduces of each rank:", *(rank.tolist() for rank in ranks))
# --8<-- [end:is-it-on]
shown = printed.call_args.args

assert dist.get_world_size() == 2
assert [rank.tolist() for rank in ranks] == [[5, 7], [7, 7]]
assert shown == ("batches and all-reduces of each rank:", [5, 7], [7, 7]), shown
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
weights = [torch.empty_like(model.module.weight) for _ in range(2)]
dist.all_gather(weights, model.module.weight.detach())
assert weights[0].equal(weights[1]), "the ranks' weights differ"

# The weights of one process: each step's gradients of both ranks, added up and divided by two.
torch.manual_seed(0)
alone = nn.Linear(64, 8).to(device)
plain, loaders = torch.optim.SGD(alone.parameters(), lr=0.1), [None, None]
dist.all_gather_object(loaders, batches.cpu())
for number in range(7):
    plain.zero_grad()
    for rows in loaders:
        if number < len(rows):
            (alone(rows[number].to(device)).square().mean() / 2).backward()
    plain.step()
torch.testing.assert_close(model.module.weight, alone.weight)

# A step of which rank 0 has no batch: the gradient is rank 1's, divided by 2.
after = []
for divide in (True, False):
    with model.join(divide_by_initial_world_size=divide):
        if dist.get_rank() == 1:
            model(batches[0]).square().mean().backward()
            after.append(model.module.weight.grad.clone())
            optimizer.zero_grad()
if dist.get_rank() == 1:
    assert torch.allclose(2 * after[0], after[1], rtol=1e-4, atol=1e-7)
    assert after[1].any(), "no gradient"
dist.destroy_process_group()

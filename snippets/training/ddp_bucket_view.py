# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "gradient_as_bucket_view=True" = "gradient_as_bucket_view=False" }
# ///
"""With gradient_as_bucket_view, gradients are stored inside DDP's buckets, so DDP needs no second copy of them."""

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
torch.manual_seed(dist.get_rank())  # other weights and inputs on each rank
layers = [nn.Linear(128, 128) for _ in range(4)]
model = nn.Sequential(*layers).to(device)


def ranks_agree(tensors) -> bool:
    """Return whether both ranks have these numbers."""
    mine = torch.cat([tensor.detach().flatten() for tensor in tensors])
    all_of_them = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(all_of_them, mine)
    return torch.equal(*all_of_them)


assert not ranks_agree(model.parameters()), "the ranks start alike"

# --8<-- [start:enable]
model = DistributedDataParallel(model, gradient_as_bucket_view=True)
# --8<-- [end:enable]
assert ranks_agree(model.parameters()), "DDP did not send the weights of rank 0"
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


class Buckets(TorchDispatchMode):
    """Keep the storages that the all-reduces work on."""

    def __init__(self):
        super().__init__()
        self.storages = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            for tensor in args[0]:
                storage = tensor.untyped_storage()
                self.storages[storage.data_ptr()] = storage.nbytes()
        return func(*args, **(kwargs or {}))


def step():
    with Buckets() as buckets:
        model(torch.randn(4, 128, device=device)).square().mean().backward()
    return buckets.storages


step()
optimizer.step()
optimizer.zero_grad()
buckets = step()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
gradients = [p.grad for p in model.parameters()]
needed = sum(g.nbytes for g in gradients)
storages = {g.untyped_storage().data_ptr(): g.untyped_storage() for g in gradients}
print(f"{len(gradients)} gradients of {needed} bytes in {len(storages)} storages")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert dist.get_world_size() == 2
assert len(gradients) == 8
assert ranks_agree(gradients), "the gradients were not averaged"
assert sum(buckets.values()) == needed, "buckets are not as large as the gradients"
total = {**{pointer: s.nbytes() for pointer, s in storages.items()}, **buckets}
assert sum(total.values()) == needed, f"{sum(total.values())} bytes for {needed}"
line = (
    f"8 gradients of {4 * (128 * 128 + 128) * 4} bytes in {len(buckets)} storages"
)
assert shown == line, f"printed was {shown}"
copies = DistributedDataParallel(
    nn.Sequential(*(nn.Linear(128, 128) for _ in range(4))).to(device)
)
with Buckets() as second:
    copies(torch.randn(4, 128, device=device)).square().mean().backward()
own = {
    p.grad.untyped_storage().data_ptr(): p.grad.nbytes for p in copies.parameters()
}
assert sum({**own, **second.storages}.values()) == 2 * needed, "no copy by default"
dist.destroy_process_group()

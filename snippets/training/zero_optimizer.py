# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "ZeroRedundancyOptimizer(\n    model.parameters(), optimizer_class=torch.optim.AdamW, lr=1e-3\n)" = "torch.optim.AdamW(model.parameters(), lr=1e-3)" }
# ///
"""ZeroRedundancyOptimizer gives each rank the optimizer states of a part of the parameters, and broadcasts the updated parameters."""

import copy
import os
import warnings
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the module itself calls torch.jit.script
    from torch.distributed.optim import ZeroRedundancyOptimizer

device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group()
torch.manual_seed(0)
model = nn.Sequential(*[nn.Linear(128, 128) for _ in range(8)]).to(device)
parameters = sum(p.numel() for p in model.parameters())
reference = copy.deepcopy(model)

# --8<-- [start:enable]
model = DistributedDataParallel(model, gradient_as_bucket_view=True)
optimizer = ZeroRedundancyOptimizer(
    model.parameters(), optimizer_class=torch.optim.AdamW, lr=1e-3
)
# --8<-- [end:enable]


class Traffic(TorchDispatchMode):
    """Record name and payload in bytes of each collective."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "c10d":
            tensors = [x for x in tree_leaves(args) if isinstance(x, torch.Tensor)]
            name = func.name().removeprefix("c10d::").strip("_")
            self.sent.append((name, sum(tensor.nbytes for tensor in tensors)))
        return func(*args, **(kwargs or {}))

    def payload(self, name):
        """Return the bytes of all collectives of this name."""
        return sum(size for found, size in self.sent if found == name)


torch.manual_seed(1 + dist.get_rank())
batch = torch.randn(4, 128, device=device)
with Traffic() as traffic:
    model(batch).square().mean().backward()
    optimizer.step()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
local = getattr(optimizer, "optim", optimizer)  # the AdamW of this rank's part
moments = [state["exp_avg"].numel() for state in local.state.values()]
if dist.get_rank() == 0:
    print(f"this rank updates {sum(moments) / parameters:.2f} of the parameters")
# --8<-- [end:is-it-on]

# The proof, on each rank: half of the optimizer states, all weights and gradients, an all-reduce of the
# gradients and a broadcast of every parameter, and the step of plain AdamW on averaged gradients.
assert dist.get_world_size() == 2
assert type(local) is torch.optim.AdamW, type(local)
buckets = {p.grad.untyped_storage().data_ptr() for p in model.parameters()}
assert len(buckets) == 1, "the gradients are not views of DDP's bucket"
assert sum(moments) == parameters // 2, f"{sum(moments)} of {parameters} parameters"
if dist.get_rank() == 0:
    shown = printed.call_args.args[0]
    assert shown == "this rank updates 0.50 of the parameters", (
        f"printed was {shown}"
    )
assert sum(p.grad.numel() for p in model.parameters()) == parameters
assert traffic.payload("allreduce") == 4 * parameters, traffic.sent
assert traffic.payload("broadcast") == 4 * parameters, traffic.sent
plain = torch.optim.AdamW(reference.parameters(), lr=1e-3)
reference(batch).square().mean().backward()
for p in reference.parameters():
    dist.all_reduce(p.grad)
    p.grad /= 2
plain.step()
for p, q in zip(model.parameters(), reference.parameters(), strict=True):
    torch.testing.assert_close(p, q)

# A checkpoint needs all states on one rank: every rank calls consolidate_state_dict.
optimizer.consolidate_state_dict(to=0)
if dist.get_rank() == 0:
    state = optimizer.state_dict()["state"]
    saved = sum(each["exp_avg"].numel() for each in state.values())
    assert saved == parameters
dist.destroy_process_group()

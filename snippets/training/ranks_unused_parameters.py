# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "find_unused_parameters=True" = "find_unused_parameters=False" }
# ///
"""DDP raises at the second forward pass if parameters had no gradient. The gradients of the first step already differ between ranks."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")  # a CPU is enough to see the error
rank = dist.get_rank()


# --8<-- [start:fault]
class TwoHeads(torch.nn.Module):
    """A body with two heads, of which the loss uses one."""

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(8, 8)
        self.used = torch.nn.Linear(8, 1)
        self.unused = torch.nn.Linear(8, 1)

    def forward(self, inputs):
        """Return the predictions of both heads."""
        hidden = self.body(inputs).relu()
        return self.used(hidden), self.unused(hidden)


def step(model, inputs):
    prediction, _ = model(inputs)  # the second head gets no gradient
    prediction.square().mean().backward()


# --8<-- [end:fault]


# --8<-- [start:enable]
def wrapped(model):
    return DistributedDataParallel(model, find_unused_parameters=True)


# --8<-- [end:enable]


def frozen(model):
    """Freeze the unused head before wrapping: DDP then does not wait for it."""
    model.unused.requires_grad_(requires_grad=False)
    return DistributedDataParallel(model)


def static(model):
    """Name the wrong cure: the model returns the unused output."""
    return DistributedDataParallel(model, static_graph=True)


def of_all_ranks(value):
    """Return the value of each rank."""
    values = [None] * 2
    dist.all_gather_object(values, value)
    return values


def two_steps(wrap, later=1):
    """Return each rank's gradient of the body after one step, and its error in the second step, or a later one."""
    torch.manual_seed(0)
    model = wrap(TwoHeads())
    inputs = torch.randn(4, 8, generator=torch.Generator().manual_seed(rank))
    step(model, inputs)
    gradient = model.module.body.weight.grad.clone()
    try:
        for _ in range(later):
            step(model, inputs)
        error = ""
    except RuntimeError as raised:
        error = str(raised)
    return of_all_ranks(gradient), of_all_ranks(error)


# The proof: with either cure, gradients agree and no rank raises. Without, they differ, and both ranks raise.
assert dist.get_world_size() == 2, f"{dist.get_world_size()} ranks"
for cure in (wrapped, frozen):
    gradients, errors = two_steps(cure)
    assert errors == ["", ""], f"{cure.__name__}: {errors}"
    assert torch.equal(*gradients), f"{cure.__name__}: gradients differ"
    assert gradients[0].abs().sum() > 0, f"{cure.__name__}: the gradient is zero"
_, errors = two_steps(static, later=2)
assert all("finished reduction" in error for error in errors), (
    "static_graph is a cure: forward returns no unused output"
)
gradients, errors = two_steps(DistributedDataParallel)
assert not torch.allclose(*gradients), "the gradients of the first step agree"
for number, error in enumerate(errors):
    assert error.startswith("Expected to have finished reduction in the prior"), (
        error
    )
    indices = f"Parameter indices which did not receive grad for rank {number}: 4 5"
    assert indices in error, error
names = [name for name, _ in TwoHeads().named_parameters()]
assert names[4:] == ["unused.weight", "unused.bias"], names
if rank == 0:
    print(errors[0].partition(" This error indicates")[0])
    print(
        next(row for row in errors[0].splitlines() if row.startswith("Parameter"))
    )
dist.destroy_process_group()

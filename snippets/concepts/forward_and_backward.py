# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "torch.nn.Linear(H, H, bias=False)" = "torch.nn.Linear(H, H, bias=False).requires_grad_(False)" }
# ///
"""What forward and backward compute and read: a linear layer, an activation and a residual connection."""

from unittest.mock import patch

import torch
from torch.profiler import profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

T, H = 512, 256
printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:flops]
layer = torch.nn.Linear(H, H, bias=False)
hidden = torch.randn(T, H, requires_grad=True)  # the output of an earlier layer

with FlopCounterMode(display=False) as forward:
    output = layer(hidden)
with FlopCounterMode(display=False) as backward:
    output.sum().backward()

print(backward.get_total_flops() / forward.get_total_flops())  # on: 2.0, off: 1.0
# --8<-- [end:flops]
assert printed.call_args.args == (2.0,), printed.call_args


def profiled(found) -> int:
    """FLOPs of the matmuls that the profiler saw; the counter above is off."""
    return sum(
        event.flops for event in found.key_averages() if event.key == "aten::mm"
    )


class Traffic(TorchDispatchMode):
    """Tensors of T × H numbers that kernels read and write."""

    def __init__(self):
        super().__init__()
        self.read = self.written = 0

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        out = op(*args, **(kwargs or {}))
        if not op.is_view and op is not torch.ops.aten.detach.default:
            self.read += sum(full(each) for each in args)
            self.written += full(out)
        return out


def full(found) -> bool:
    """Tell a tensor of T × H numbers from everything else."""
    return isinstance(found, torch.Tensor) and found.numel() == T * H


def traffic(function, inputs: int) -> tuple:
    """Tensors read and written in forward, and in backward."""
    given = [torch.randn(T, H, requires_grad=True) for _ in range(inputs)]
    with Traffic() as forward:
        output = function(*given)
    grad = torch.ones_like(output)
    with Traffic() as backward:
        torch.autograd.grad(output, given, grad)
    return forward.read, forward.written, backward.read, backward.written


functions = {
    "GELU": (torch.nn.functional.gelu, 1),
    "gate × up": (torch.mul, 2),
    "residual connection": (lambda x: x + x.view(T, H), 1),  # two branches
}
moved = {name: traffic(*each) for name, each in functions.items()}
for name, (read, written, read_again, gradients) in moved.items():
    print(
        f"{name}: reads {read}, writes {written}; backward {read_again}, {gradients}"
    )

with profile(with_flops=True) as first:
    output = layer(hidden)
with profile(with_flops=True) as second:
    output.sum().backward()
assert forward.get_total_flops() == 2 * T * H * H == profiled(first)
assert backward.get_total_flops() == 2 * forward.get_total_flops(), (
    "backward does not compute two matmuls for the one in forward"
)
assert profiled(second) == backward.get_total_flops(), (
    "the profiler saw other matmuls"
)
assert moved["GELU"] == (1, 1, 2, 1), moved["GELU"]
assert moved["gate × up"] == (2, 1, 4, 2), moved["gate × up"]
assert moved["residual connection"] == (2, 1, 2, 1), moved["residual connection"]

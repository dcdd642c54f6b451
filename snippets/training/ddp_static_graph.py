# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "DistributedDataParallel(model, static_graph=True)" = "DistributedDataParallel(model)" }
# ///
"""With static_graph, DDP trains a model whose parameters are not all used, and sends nothing but the gradients; find_unused_parameters sends a number per parameter tensor as well."""

import contextlib
import io
import os

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


class TwoHeads(nn.Module):
    """A model with a head that training does not use."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(64, 64)
        self.used = nn.Linear(64, 8)
        self.unused = nn.Linear(64, 8)

    def forward(self, inputs):
        """Leave out one head."""
        return self.used(self.body(inputs))


class Payloads(TorchDispatchMode):
    """Note the bytes of each all-reduce."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            self.sent.append(sum(tensor.nbytes for tensor in args[0]))
        return func(*args, **(kwargs or {}))


torch.manual_seed(0)
model = TwoHeads().to(device)
inputs = torch.randn(4, 64, device=device)

# --8<-- [start:enable]
model = DistributedDataParallel(model, static_graph=True)
# --8<-- [end:enable]


def steps(model, count=3):
    """Return the bytes of the all-reduces of each step, and the error that ended training, if any."""
    sent = []
    for _ in range(count):
        try:
            with Payloads() as payloads:
                model(inputs).square().mean().backward()
        except RuntimeError as error:
            return sent, str(error)
        sent.append(payloads.sent)
    return sent, ""


sent, error = steps(model)
assert dist.get_world_size() == 2
assert not error, error.splitlines()[0]
gradients = sum(p.nbytes for p in model.parameters())
assert [sum(step) for step in sent[1:]] == [gradients] * 2, f"sent {sent}"

printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    # --8<-- [start:compare]
    searching = DistributedDataParallel(
        TwoHeads().to(device), find_unused_parameters=True
    )
    print("static_graph:", sent[-1], "bytes")
    print("find_unused_parameters:", steps(searching)[0][-1], "bytes")
    print(
        "neither:",
        steps(DistributedDataParallel(TwoHeads().to(device)))[1].split(".")[0],
    )
    # --8<-- [end:compare]
print(printed.getvalue(), end="")

found, error = steps(searching)
assert not error, error
extra = 4 * len(list(searching.parameters()))
assert sum(found[-1]) == gradients + extra, (
    f"{sum(found[-1]) - gradients} more bytes"
)
shown = printed.getvalue().splitlines()
assert shown[:2] == [
    f"static_graph: {sent[-1]} bytes",
    f"find_unused_parameters: {found[-1]} bytes",
], shown
expected = "Expected to have finished reduction in the prior iteration"
assert steps(DistributedDataParallel(TwoHeads().to(device)))[1].startswith(expected)
sentence = f"neither: {expected} before starting a new one"
assert shown[2:] == [sentence], shown  # the first sentence, and no more
for parameter in model.parameters():
    assert parameter.grad is None or parameter.grad.isfinite().all()
dist.destroy_process_group()

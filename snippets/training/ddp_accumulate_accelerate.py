# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "with accelerator.accumulate(model):" = "if True:" }
# ///
"""With accelerator.accumulate, nine micro-batches of an epoch make three all-reduces of all gradients and three optimizer steps."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, TensorDataset

dataset = TensorDataset(torch.randn(72, 64), torch.randn(72, 8))
model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 8))
forwards, steps = [], []
model.register_forward_hook(lambda *_: forwards.append(1))

# --8<-- [start:enable]
on_cpu = not torch.accelerator.is_available()
accelerator = Accelerator(gradient_accumulation_steps=4, cpu=on_cpu)
optimizer = torch.optim.AdamW(model.parameters())
loader = DataLoader(dataset, batch_size=4)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)


def train():
    for inputs, targets in loader:
        with accelerator.accumulate(model):  # around the forward pass, too
            loss = nn.functional.mse_loss(model(inputs), targets)
            accelerator.backward(loss)
            optimizer.step()  # waits for the last micro-batch
            optimizer.zero_grad()


# --8<-- [end:enable]
optimizer.optimizer.register_step_post_hook(lambda *_: steps.append(1))


class Payloads(TorchDispatchMode):
    """Note the bytes of each all-reduce."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            self.sent.append(sum(tensor.nbytes for tensor in args[0]))
        return func(*args, **(kwargs or {}))


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with Payloads() as payloads:  # notes the bytes of each all-reduce
    train()
gradients = sum(p.nbytes for p in model.parameters())
print(len(forwards), "forward passes,", len(steps), "optimizer steps,", end=" ")
print(sum(payloads.sent) / gradients, "times the gradients' bytes")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

assert accelerator.num_processes == dist.get_world_size() == 2
assert len(forwards) == 9, f"{len(forwards)} forward passes on this rank"
assert len(steps) == 3, f"{len(steps)} optimizer steps"
assert sum(payloads.sent) == 3 * gradients, f"{sum(payloads.sent) / gradients}"
assert shown == [
    "9 forward passes, 3 optimizer steps,",
    "3.0 times the gradients' bytes",
], f"printed was {shown}"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
accelerator.end_training()

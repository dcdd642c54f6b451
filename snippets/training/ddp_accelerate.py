# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { "model, optimizer, loader = accelerator.prepare(model, optimizer, loader)" = "optimizer, loader = accelerator.prepare(optimizer, loader)" }
# ///
"""Accelerate wraps the model in DDP with the options of DistributedDataParallelKwargs, and splits the batches over the ranks."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

checkpoint = "Qwen/Qwen3-0.6B"
dataset = torch.randint(0, 100, (8, 16), generator=torch.Generator().manual_seed(0))

# --8<-- [start:enable]
options = DistributedDataParallelKwargs(gradient_as_bucket_view=True)
on_cpu = not torch.accelerator.is_available()
accelerator = Accelerator(kwargs_handlers=[options], cpu=on_cpu)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
loader = DataLoader(dataset, batch_size=2, shuffle=True)  # 2 per GPU
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)


def train():
    for tokens in loader:
        loss = model(input_ids=tokens, labels=tokens).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()


# --8<-- [end:enable]


class Payloads(TorchDispatchMode):
    """Note the bytes of each all-reduce."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            self.sent.append(sum(tensor.nbytes for tensor in args[0]))
        return func(*args, **(kwargs or {}))


seen = []
model.register_forward_pre_hook(
    lambda _, args, kwargs: seen.append(kwargs["input_ids"]), with_kwargs=True
)

before = [p.detach().clone() for p in model.parameters()]
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with Payloads() as payloads:  # notes the bytes of each all-reduce
    train()
print(accelerator.distributed_type, accelerator.num_processes, "ranks")
gradients = sum(p.nbytes for p in model.parameters())
print(sum(payloads.sent) / gradients, "times the gradients' bytes in 2 steps")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

assert accelerator.num_processes == dist.get_world_size() == 2
own = torch.stack(seen)
assert own.shape == (2, 2, 16), "not two batches of two sequences"
ranks = accelerator.gather(own)
assert len({tuple(row.tolist()) for row in ranks.reshape(-1, 16)}) == 8
assert sum(payloads.sent) == 2 * gradients, f"sent {sum(payloads.sent)}"
where = "GPU" if torch.cuda.is_available() else "CPU"
assert shown == [
    f"DistributedType.MULTI_{where} 2 ranks",
    "2.0 times the gradients' bytes in 2 steps",
], f"printed was {shown}"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
assert isinstance(model, DistributedDataParallel)
assert model.gradient_as_bucket_view
moved = [not p.equal(b) for p, b in zip(model.parameters(), before, strict=True)]
assert all(moved), f"{moved.count(False)} of {len(moved)} weights did not change"
norms = torch.stack([p.detach().double().norm() for p in model.parameters()])
ranks = accelerator.gather(norms[None])
assert ranks[0].equal(ranks[1]), "the ranks' weights differ"
accelerator.end_training()

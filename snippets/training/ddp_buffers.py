# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { "forward_sync_buffers=False" = "forward_sync_buffers=True" }
# ///
"""DDP broadcasts all buffers of rank 0 in every forward pass, such as the constant frequencies of rotary embeddings, unless forward_sync_buffers is False."""

import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM

device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group()
checkpoint = "Qwen/Qwen3-0.6B"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
tokens = torch.arange(16, device=device).reshape(1, 16)

# --8<-- [start:enable]
model = DistributedDataParallel(model.to(device), forward_sync_buffers=False)
# --8<-- [end:enable]


passes = []
model.register_forward_hook(lambda *_: passes.append(1))


class Broadcasts(TorchDispatchMode):
    """Note the bytes of each broadcast."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.broadcast_.default:
            self.sent.append(sum(tensor.nbytes for tensor in args[0]))
        return func(*args, **(kwargs or {}))


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
buffers = {name: b.nbytes for name, b in model.module.named_buffers()}
with Broadcasts() as broadcasts:  # notes the bytes of each broadcast
    model(input_ids=tokens)
print("buffers:", buffers)
print("bytes of broadcasts in a forward pass:", broadcasts.sent)
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

assert dist.get_world_size() == 2
assert buffers
assert passes, "no forward pass of DDP"
default = DistributedDataParallel(model.module)
with Broadcasts() as usual:
    default(input_ids=tokens)
assert sum(usual.sent) == sum(buffers.values()), "buffers are not sent by default"
# Batch norm: its statistics are the rank's own without the broadcast, and rank 0's with it.
inputs = torch.full((4, 8), 1.0 + dist.get_rank(), device=device)
for keep in (True, False):
    norm = DistributedDataParallel(
        nn.BatchNorm1d(8).to(device), forward_sync_buffers=not keep
    )
    norm(inputs)
    norm.module.eval()
    norm(inputs)
    own = norm.module.running_mean
    ranks = [torch.empty_like(own) for _ in range(2)]
    dist.all_gather(ranks, own)
    assert ranks[0].equal(ranks[1]) != keep, "the statistics"
assert not broadcasts.sent, f"broadcasts of {broadcasts.sent} bytes"
names = ("model.rotary_emb.inv_freq", "model.rotary_emb.original_inv_freq")
half = model.module.config.head_dim // 2  # a frequency in fp32 for two elements
assert shown == [
    f"buffers: {dict.fromkeys(names, 4 * half)}",
    "bytes of broadcasts in a forward pass: []",
], f"printed was {shown}"
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "model.register_comm_hook(None, default_hooks.fp16_compress_hook)" = "pass" }
# ///
"""With a compression hook, DDP sends fp32 gradients in fp16: half the bytes, rounded."""

import copy
import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group()
torch.manual_seed(0)
model = DistributedDataParallel(
    nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 8)).to(device),
    bucket_cap_mb=0.005,  # several messages, as larger models have
)
torch.manual_seed(1 + dist.get_rank())
inputs = torch.randn(4, 64, device=device)
model(inputs).square().mean().backward()
exact = [p.grad.clone() for p in model.parameters()]
model.zero_grad()

# --8<-- [start:enable]
model.register_comm_hook(None, default_hooks.fp16_compress_hook)
# --8<-- [end:enable]


class Payloads(TorchDispatchMode):
    """Note the bytes and the data types of each all-reduce."""

    def __init__(self):
        super().__init__()
        self.sent, self.types = [], set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            self.sent.append(sum(tensor.nbytes for tensor in args[0]))
            self.types |= {tensor.dtype for tensor in args[0]}
        return func(*args, **(kwargs or {}))


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with Payloads() as payloads:  # notes the bytes of each all-reduce
    model(inputs).square().mean().backward()
gradients = sum(p.nbytes for p in model.parameters())
share = sum(payloads.sent) / gradients
print(share, "times the gradients' bytes")  # on: 0.5, off: 1.0
# --8<-- [end:is-it-on]
shown = printed.call_args.args

assert dist.get_world_size() == 2
assert shown == (0.5, "times the gradients' bytes"), f"printed was {shown}"
pairs = zip(model.parameters(), exact, strict=True)
apart = max(((p.grad - e).norm() / e.norm()).item() for p, e in pairs)
assert sum(payloads.sent) == gradients // 2, (
    f"sent {sum(payloads.sent)} of {gradients}"
)
assert len(payloads.sent) > 1, "all gradients were in one message"
assert payloads.types == {torch.float16}, f"sent {payloads.types}"
assert all(p.grad.dtype == torch.float32 for p in model.parameters())
assert 0 < apart < 1e-2, f"rounding by {apart:.1e}"

# Without the hook, all bytes are sent, in fp32.
plain = DistributedDataParallel(copy.deepcopy(model.module), bucket_cap_mb=0.005)
with Payloads() as whole:
    plain(inputs).square().mean().backward()
assert sum(whole.sent) == gradients, f"sent {sum(whole.sent)} of {gradients}"
assert whole.types == {torch.float32}, f"sent {whole.types}"
dist.destroy_process_group()

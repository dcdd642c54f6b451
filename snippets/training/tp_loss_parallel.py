# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "output_layouts=Shard(-1), use_local_output=False" = "output_layouts=Replicate()", "with loss_parallel():" = "if True:" }
# ///
"""loss_parallel computes the loss of logits that stay divided by the vocabulary, so no rank gathers them."""

from collections import Counter
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn.functional import cross_entropy
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM

checkpoint = "HuggingFaceTB/SmolLM2-135M"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
whole = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (dist.get_world_size(),))
torch.manual_seed(0)
batch = torch.randint(100, (2, 65))
inputs, targets = batch[:, :-1].to(device), batch[:, 1:].to(device)


class Traffic(TorchDispatchMode):
    """Count the bytes of the whole tensor of each collective."""

    def __init__(self):
        super().__init__()
        self.sizes = Counter()

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        if any(issubclass(kind, DTensor) for kind in types):
            return NotImplemented  # count what is called below the DTensor
        out = op(*args, **(kwargs or {}))
        kind = op.name().split("::")[1]
        if op.namespace == "_c10d_functional" and not kind.startswith(
            ("wait", "_")
        ):
            self.sizes[kind, max(args[0].nbytes, out.nbytes)] += 1
        return out


# --8<-- [start:enable]
plan = {
    "model.embed_tokens": RowwiseParallel(input_layouts=Replicate()),
    "lm_head": ColwiseParallel(output_layouts=Shard(-1), use_local_output=False),
}
parallelize_module(model, mesh, plan)
model.tie_weights()  # the plan divided embedding and LM head separately
model.to(device)


def step():
    logits = model(input_ids=inputs).logits
    with loss_parallel():  # around the loss and the backward pass
        loss = cross_entropy(logits.flatten(0, 1).float(), targets.flatten())
        loss.backward()
    return logits, loss


# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with Traffic() as traffic:
    logits, loss = step()
local = logits.to_local() if isinstance(logits, DTensor) else logits
if dist.get_rank() == 0:
    print(f"logits on this rank: {tuple(local.shape)} of {tuple(logits.shape)}")
    for (kind, size), count in sorted(traffic.sizes.items()):
        print(f"{count} x {kind} of {size:,} bytes")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]
# The proof, on each rank: half of the logits, three all-reduces of 4 bytes per token, and one process's gradients.
assert dist.get_world_size() == 2
tokens, vocabulary, hidden = (
    targets.numel(),
    whole.config.vocab_size,
    model.config.hidden_size,
)
part = -(-vocabulary // 2) if dist.get_rank() == 0 else vocabulary // 2
assert local.shape == (*targets.shape, part), local.shape
# The embedding's output and the gradient of the LM head's input are hidden states.
assert traffic.sizes == {
    ("all_reduce", 4 * tokens): 3,
    ("all_reduce", 4 * tokens * hidden): 2,
}, traffic.sizes
if dist.get_rank() == 0:
    assert shown == [
        f"logits on this rank: (2, 64, {part}) of (2, 64, {vocabulary})",
        f"3 x all_reduce of {4 * tokens:,} bytes",
        f"2 x all_reduce of {4 * tokens * hidden:,} bytes",
    ], f"printed was {shown}"
expected = cross_entropy(
    whole(input_ids=inputs.cpu()).logits.flatten(0, 1), targets.cpu().flatten()
)
expected.backward()
assert abs(loss.full_tensor().item() - expected.item()) < 1e-5
for (name, p), q in zip(model.named_parameters(), whole.parameters(), strict=True):
    gradient = p.grad.full_tensor() if isinstance(p.grad, DTensor) else p.grad
    apart = (gradient.cpu() - q.grad).norm() / q.grad.norm()
    assert apart < 1e-4, f"the gradients of {name} differ by {apart:.1e}"
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 120
# ablation = { "k, v = gather_sequence(k)[:, :, :end], gather_sequence(v)[:, :, :end]" = "k, v = k, v" }
# ///
"""Each rank runs the model on a quarter of the sequence and gathers keys and values in each layer; loss and gradients are those of the whole sequence."""

import contextlib
import io
from functools import cache

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Shard
from torch.distributed.tensor.debug import CommDebugMode
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AttentionInterface, AutoModelForCausalLM

checkpoint = "Qwen/Qwen3-0.6B"
tokens = torch.randint(0, 100, (1, 257), generator=torch.Generator().manual_seed(0))

# --8<-- [start:enable]
device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (dist.get_world_size(),), mesh_dim_names=("cp",))


def gather_sequence(x):
    """Concatenate all ranks' tokens; in the backward pass, sum the gradients of each."""
    return DTensor.from_local(x, mesh, [Shard(2)]).full_tensor(
        grad_placements=[Partial()]
    )


@cache  # made once, in the first step
def causal(queries, keys):
    """Return the mask with which the last query sees all keys."""
    return causal_lower_right(queries, keys)


def attention(_module, q, k, v, _mask, scaling=None, **_):
    """Return this rank's queries' attention over all tokens up to each query."""
    end = (mesh.get_local_rank() + 1) * q.shape[2]
    k, v = gather_sequence(k)[:, :, :end], gather_sequence(v)[:, :, :end]
    out = scaled_dot_product_attention(
        q, k, v, causal(q.shape[2], k.shape[2]), scale=scaling, enable_gqa=True
    )
    return out.transpose(1, 2), None


AttentionInterface.register("cp_allgather", attention)
model = AutoModelForCausalLM.from_pretrained(
    checkpoint, dtype=torch.float32, attn_implementation="cp_allgather"
).to(device)


def step(tokens):
    """Add up the gradients of all ranks' parts of the sequence, and return the loss."""
    inputs, labels = tokens[:, :-1], tokens[:, 1:]  # shift first, and split then
    positions = torch.arange(inputs.shape[1], device=device)[None]
    rank, ranks = mesh.get_local_rank(), mesh.size()
    x, y, position = (
        t.chunk(ranks, dim=1)[rank] for t in (inputs, labels, positions)
    )
    out = model(
        input_ids=x,
        position_ids=position,
        labels=y,
        shift_labels=y,
        num_items_in_batch=labels.numel(),  # of the whole sequence
    )
    out.loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
    return out


# --8<-- [end:enable]


class Payloads(TorchDispatchMode):
    """Note the bytes that each gather returns and each reduce-scatter takes."""

    def __init__(self):
        super().__init__()
        self.bytes = {"all_gather_into_tensor": [], "reduce_scatter_tensor": []}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func.name().removeprefix("_c10d_functional::")
        if name in self.bytes:
            self.bytes[name].append(max(out.nbytes, args[0].nbytes))
        return out


step(tokens.to(device))
model.zero_grad()
payloads = Payloads()
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    # --8<-- [start:is-it-on]
    with payloads, CommDebugMode() as counter:
        out = step(tokens.to(device))
    print(
        f"rank {dist.get_rank()}: {out.logits.shape[1]} of {tokens.shape[1] - 1} tokens"
    )
    for operation, count in counter.get_comm_counts().items():
        print(operation, count)  # per layer, 2 all-gathers and 2 reduce-scatters
    # --8<-- [end:is-it-on]
print(printed.getvalue(), end="")

# The proof, on each rank: its logits, the loss and each gradient are those of one process, and each
# layer gathers exactly the keys and values of the whole sequence, and scatters their gradients.
assert dist.get_world_size() == mesh.size() == 4
assert out.logits.shape[1] == 64
shown = printed.getvalue().splitlines()
assert shown[0] == f"rank {dist.get_rank()}: 64 of 256 tokens", shown
size = 4 * 256 * model.config.num_key_value_heads * model.config.head_dim
expected = [size] * 2 * model.config.num_hidden_layers
counts = dict(line.split(".")[-1].split() for line in shown[1:])
for name in payloads.bytes:
    assert counts.get(name) == str(len(expected)), shown
assert list(payloads.bytes.values()) == [expected, expected], payloads.bytes

whole = AutoModelForCausalLM.from_pretrained(
    checkpoint, dtype=torch.float32, attn_implementation="sdpa"
).to(device)
labels = tokens[:, 1:].to(device)
reference = whole(
    input_ids=tokens[:, :-1].to(device), labels=labels, shift_labels=labels
)
reference.loss.backward()
dist.all_reduce(loss := out.loss.detach())
assert torch.allclose(loss, reference.loss), f"{loss} instead of {reference.loss}"
part = reference.logits.chunk(4, dim=1)[mesh.get_local_rank()]
assert torch.allclose(out.logits, part, atol=1e-5), "the logits differ"
for one, other in zip(model.parameters(), whole.parameters(), strict=True):
    apart = (one.grad - other.grad).norm() / other.grad.norm()
    assert apart < 1e-4, f"a gradient differs by {apart:.1e} of its length"
dist.destroy_process_group()

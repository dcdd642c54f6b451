# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 120
# ablation = { "q, k, v = (to_heads(x) for x in (q, k, v))" = "pass", "return to_tokens(out), None" = "return out.transpose(1, 2), None" }
# ///
"""Ulysses: an all-to-all gives each rank all tokens of a part of the heads, and a second one gives back its tokens; loss and gradients are those of the whole sequence."""

import contextlib
import io

import torch
import torch.distributed as dist
from torch.distributed._functional_collectives import all_to_all_single_autograd
from torch.distributed.tensor.debug import CommDebugMode
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AttentionInterface, AutoModelForCausalLM

checkpoint = "Qwen/Qwen3-0.6B"
tokens = torch.randint(0, 100, (1, 129), generator=torch.Generator().manual_seed(0))

# --8<-- [start:enable]
device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cuda":
    torch.cuda.set_device(dist.get_node_local_rank())
dist.init_process_group()
group, rank, ranks = dist.group.WORLD, dist.get_rank(), dist.get_world_size()


def exchange(x):
    """Send x[i] to rank i, and return what each rank sent to this one."""
    return all_to_all_single_autograd(x.contiguous(), None, None, group)


def to_heads(x):
    """(batch, heads, tokens / N, dim) -> (batch, heads / N, tokens, dim)."""
    x = exchange(x.unflatten(1, (ranks, -1)).movedim(1, 0))
    return x.movedim(0, 2).flatten(2, 3)


def to_tokens(x):
    """(batch, heads / N, tokens, dim) -> (batch, tokens / N, heads, dim)."""
    x = exchange(x.unflatten(2, (ranks, -1)).movedim(2, 0))
    return x.movedim(0, 1).flatten(1, 2).transpose(1, 2)


def attention(_module, q, k, v, _mask, scaling=None, **_):
    """Return attention over all tokens, computed with a part of the heads."""
    q, k, v = (to_heads(x) for x in (q, k, v))
    out = scaled_dot_product_attention(
        q, k, v, is_causal=True, scale=scaling, enable_gqa=True
    )
    return to_tokens(out), None


AttentionInterface.register("ulysses", attention)
model = AutoModelForCausalLM.from_pretrained(
    checkpoint, dtype=torch.float32, attn_implementation="ulysses"
).to(device)
# --8<-- [end:enable]


def step(tokens):
    """Add up the gradients of all ranks' parts of the sequence."""
    inputs, labels = tokens[:, :-1], tokens[:, 1:]
    positions = torch.arange(inputs.shape[1], device=device)[None]
    x, y, position = (
        t.chunk(ranks, dim=1)[rank] for t in (inputs, labels, positions)
    )
    out = model(
        input_ids=x,
        position_ids=position,
        labels=y,
        shift_labels=y,
        num_items_in_batch=labels.numel(),
    )
    out.loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
    return out


class Payloads(TorchDispatchMode):
    """Note the bytes that this rank puts into each all-to-all."""

    def __init__(self):
        super().__init__()
        self.sizes = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.name() == "_c10d_functional::all_to_all_single":
            self.sizes.append(args[0].nbytes)
        return func(*args, **(kwargs or {}))


payloads = Payloads()
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    # --8<-- [start:is-it-on]
    with payloads, CommDebugMode() as counter:
        out = step(tokens.to(device))
    print(f"rank {rank}: {out.logits.shape[1]} of {tokens.shape[1] - 1} tokens")
    for operation, count in counter.get_comm_counts().items():
        print(operation, count)  # per layer, 4 all-to-alls forward and 4 backward
    # --8<-- [end:is-it-on]
print(printed.getvalue(), end="")

# The proof, on each rank: its logits, the loss and each gradient are those of one process. A layer's
# four all-to-alls hold (2Q + K) / N bytes, with the bytes Q of all queries and K of all keys and values.
assert dist.get_world_size() == 2
assert out.logits.shape[1] == 64
shown = printed.getvalue().splitlines()
assert shown[0] == f"rank {dist.get_rank()}: 64 of 128 tokens", shown
config = model.config
Q = 4 * 128 * config.num_attention_heads * config.head_dim
counts = dict(line.split(".")[-1].split() for line in shown[1:])
assert counts.get("all_to_all_single") == str(8 * config.num_hidden_layers), shown
K = 2 * 4 * 128 * config.num_key_value_heads * config.head_dim
assert len(payloads.sizes) == 8 * config.num_hidden_layers, len(payloads.sizes)
expected = 2 * config.num_hidden_layers * (2 * Q + K) // 2
assert sum(payloads.sizes) == expected, (
    f"{sum(payloads.sizes)} bytes, not {expected}"
)

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
part = reference.logits.chunk(2, dim=1)[rank]
assert torch.allclose(out.logits, part, atol=1e-5), "the logits differ"
for one, other in zip(model.parameters(), whole.parameters(), strict=True):
    apart = (one.grad - other.grad).norm() / other.grad.norm()
    assert apart < 1e-4, f"a gradient differs by {apart:.1e} of its length"

# A model with another scale than 1/sqrt(head size), as Gemma has, gets its own.
generator = torch.Generator().manual_seed(1)
Q, K, V = torch.randn(3, 1, 4, 16, 8, generator=generator).to(device)
parts = (x.chunk(2, dim=2)[rank] for x in (Q, K, V))
mine, _ = attention(None, *parts, None, scaling=1.0)
expected = scaled_dot_product_attention(Q, K, V, is_causal=True, scale=1.0)
expected = expected.chunk(2, dim=2)[rank].transpose(1, 2)
assert torch.allclose(mine, expected, atol=1e-5), "the scale is not the model's"
dist.destroy_process_group()

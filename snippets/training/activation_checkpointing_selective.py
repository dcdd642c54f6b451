# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'startswith(EXPENSIVE)' = 'startswith("none")' }
# ///
"""Selective checkpointing saves the outputs of matmuls and attention, and runs only the cheap rest of a block again."""

from collections import Counter
from functools import partial
from unittest.mock import patch

import torch
from torch.profiler import profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import (
    CheckpointPolicy,
    create_selective_checkpoint_contexts,
)
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
text = "Keep what was expensive, and compute the rest once more. " * 4
batch = tokenizer([text] * 8, return_tensors="pt").to(device)


def load():
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    return model.to(device).train()


model = load()

# --8<-- [start:enable]
EXPENSIVE = ("aten::mm", "aten::addmm", "aten::_scaled_dot_product")


def policy(_context, operation, *_, **__):
    if operation.name().startswith(EXPENSIVE):
        return CheckpointPolicy.MUST_SAVE
    return CheckpointPolicy.PREFER_RECOMPUTE


contexts = partial(create_selective_checkpoint_contexts, policy)
model.activation_checkpointing_enable(
    {"use_reentrant": False, "context_fn": contexts}
)
# --8<-- [end:enable]


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
class Operations(TorchDispatchMode):
    """Counts the operations that really run, forward and backward."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.runs[operation.overloadpacket.__name__] += 1
        return operation(*args, **(kwargs or {}))


def runs(model):
    with Operations() as operations:
        operations.runs = Counter()
        model(**batch, labels=batch["input_ids"]).loss.backward()
    model.zero_grad()
    return operations.runs


found = runs(model)
print(f"{found['mm']} matmuls, {found['silu']} activation functions")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]
assert all(p.grad is None for p in model.parameters()), "a gradient was left"


def attentions(counted):
    return sum(
        count
        for name, count in counted.items()
        if name.startswith("_scaled_dot_product") and "backward" not in name
    )


def left_by_forward(model):
    """Bytes that the forward pass has allocated and not freed."""
    with profile(profile_memory=True) as trace:
        loss = model(**batch, labels=batch["input_ids"]).loss
    loss.backward()
    model.zero_grad()
    return sum(
        row.self_cpu_memory_usage + row.self_device_memory_usage
        for row in trace.key_averages()
    )


# The proof: the activation function of every block runs again, and no matmul and no attention does.
plain, full = load(), load()
full.activation_checkpointing_enable()
without, everything = runs(plain), runs(full)
blocks = model.config.num_hidden_layers
print(f"without: {without['mm']} matmuls, {without['silu']} activation functions")
print(f"every block: {everything['mm']} and {everything['silu']}")
assert without["silu"] == blocks
assert found["silu"] == everything["silu"] == 2 * blocks
assert attentions(without) == blocks
assert attentions(everything) == 2 * blocks
assert attentions(found) == blocks, f"attention ran {attentions(found)} times"
# Of 7 matmuls per block, checkpointing repeats 6: nothing in the block needs what the last one returns.
assert everything["mm"] == without["mm"] + 6 * blocks
matmuls, functions = without["mm"], 2 * blocks
assert shown == f"{matmuls} matmuls, {functions} activation functions", shown
assert found["mm"] == without["mm"], f"{found['mm'] - without['mm']} matmuls again"
# All other arithmetic of a block runs again, as with every block checkpointed.
for name in ("add", "mul", "neg", "pow", "mean", "rsqrt", "silu"):
    assert without[name] < found[name] == everything[name], f"{name}: {found[name]}"
# The policy also holds for layers with a bias, and for the attention kernels of a GPU.
aten = torch.ops.aten
attention = aten._scaled_dot_product_flash_attention  # noqa: SLF001
for operation in (aten.mm, aten.addmm, attention):
    assert policy(None, operation.default) == CheckpointPolicy.MUST_SAVE, operation
assert policy(None, aten.silu.default) == CheckpointPolicy.PREFER_RECOMPUTE

# What it keeps lies between the two, and the gradients are the same.
half = load()
half.activation_checkpointing_enable(every_n_layers=2)
kept = [left_by_forward(m) for m in (full, model, plain, half)]
print("left by forward, MiB:", [round(size / 2**20, 2) for size in kept])
assert kept[0] < kept[1] < kept[2], f"{kept} bytes are left by the forward passes"
# In a Llama, that is about what every second block keeps, which runs matmuls again.
assert 0.85 < kept[1] / kept[3] < 1.15, f"{kept[1]} bytes against {kept[3]}"
for m in (model, plain):
    m(**batch, labels=batch["input_ids"]).loss.backward()
for one, other in zip(model.parameters(), plain.parameters(), strict=True):
    apart = (one.grad - other.grad).norm() / other.grad.norm()
    assert apart < 1e-4, f"a gradient differs by {apart:.1e} of its length"

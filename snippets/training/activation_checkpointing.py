# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "model.activation_checkpointing_enable()" = "model.activation_checkpointing_disable()" }
# ///
"""Activation checkpointing saves only the input of each block, and runs each block again in the backward pass. The gradients stay the same."""

from unittest.mock import patch

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
text = "What backward needs is either kept from the forward pass or computed once more."
batch = tokenizer([text] * 16, return_tensors="pt").to(device)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
model.activation_checkpointing_enable()
# --8<-- [end:enable]


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def runs_of_a_block(model: PreTrainedModel) -> int:
    """How often the first block runs in one training step."""
    modules = model.modules()
    block = next(m for m in modules if isinstance(m, GradientCheckpointingLayer))
    first = next(m for m in block.modules() if not list(m.children()))
    runs = []
    handle = first.register_forward_pre_hook(lambda *_: runs.append(1))
    model(**batch, labels=batch["input_ids"]).loss.backward()
    handle.remove()
    model.zero_grad()
    return len(runs)


print(f"a block runs {runs_of_a_block(model)} times a step")  # 1: off, 2: on
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]


# The proof: a block runs twice, the check leaves no gradient, the forward pass leaves less, and the gradients are the same.
def left_by_forward(model: PreTrainedModel) -> int:
    """Bytes that the forward pass has allocated and not freed when backward is about to start."""
    with profile(profile_memory=True) as trace:
        loss = model(**batch, labels=batch["input_ids"]).loss
    loss.backward()
    model.zero_grad()
    rows = trace.key_averages()
    return sum(
        row.self_cpu_memory_usage + row.self_device_memory_usage for row in rows
    )


def gradients(model: PreTrainedModel) -> list[torch.Tensor]:
    """The gradients of one step, with the same dropout at each call."""
    torch.manual_seed(0)
    model(**batch, labels=batch["input_ids"]).loss.backward()
    return [parameter.grad for parameter in model.parameters()]


assert not any(m._forward_pre_hooks for m in model.modules()), "a hook was left"  # noqa: SLF001
assert shown == "a block runs 2 times a step", f"printed was {shown}"
assert runs_of_a_block(model) == 2, "no block ran a second time"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
runs = []
for block in model.transformer.h:
    block.ln_1.register_forward_pre_hook(lambda *_: runs.append(1))
model(**batch, labels=batch["input_ids"]).loss.backward()
model.zero_grad()
assert len(runs) == 2 * len(model.transformer.h), f"blocks ran {len(runs)} times"

plain = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
plain = plain.to(device).train()
kept, everything = left_by_forward(model), left_by_forward(plain)
print(
    f"left by forward: {kept / 2**20:.1f} MiB, without {everything / 2**20:.1f} MiB"
)
assert kept < 0.6 * everything, f"checkpointing left {kept} of {everything} bytes"
tokens, config = batch["input_ids"].numel(), model.config
inputs, logits = config.n_layer * config.n_embd, config.vocab_size
assert kept > 4 * tokens * (inputs + logits), f"only {kept} bytes were left"

pairs = list(zip(gradients(model), gradients(plain), strict=True))
assert all(torch.allclose(one, other, atol=1e-6) for one, other in pairs)
assert all(other.abs().max() > 1e-4 for _, other in pairs), "a gradient is 0"

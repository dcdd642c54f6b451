# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "    model.activation_checkpointing_enable()" = "    model.activation_checkpointing_disable()" }
# ///
"""Activation checkpointing keeps the input of each block, and runs the block again when backward needs the rest."""

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
text = "What backward needs is either kept from the forward pass or computed once more."
batch = tokenizer([text] * 16, return_tensors="pt").to(device)


# --8<-- [start:enable]
def load(*, checkpointed: bool) -> PreTrainedModel:
    model = AutoModelForCausalLM.from_pretrained(checkpoint).to(device).train()
    if checkpointed:
        model.activation_checkpointing_enable()
    return model


model = load(checkpointed=True)
model(**batch, labels=batch["input_ids"]).loss.backward()
# --8<-- [end:enable]


# --8<-- [start:is-it-on]
def runs_of_a_block(model: PreTrainedModel) -> int:
    runs = []
    handle = model.transformer.h[0].mlp.register_forward_pre_hook(
        lambda *_: runs.append(1)
    )
    model(**batch, labels=batch["input_ids"]).loss.backward()
    handle.remove()
    return len(runs)


print(f"each block runs {runs_of_a_block(model)} times a step")  # 1: off, 2: on
# --8<-- [end:is-it-on]


# The proof: a block runs twice, the forward pass leaves less behind, and the gradients are the same.
def left_by_forward(model: PreTrainedModel) -> int:
    """Bytes that the forward pass has allocated and not freed when backward is about to start."""
    with profile(profile_memory=True) as trace:
        loss = model(**batch, labels=batch["input_ids"]).loss
    loss.backward()
    return sum(
        row.self_cpu_memory_usage + row.self_device_memory_usage
        for row in trace.key_averages()
    )


assert runs_of_a_block(model) == 2, "no block ran a second time"

everything = load(checkpointed=False)
torch.manual_seed(0)
kept = left_by_forward(model)
torch.manual_seed(0)
kept_otherwise = left_by_forward(everything)
print(
    f"left by the forward pass: {kept / 2**20:.1f} MiB with checkpointing, {kept_otherwise / 2**20:.1f} MiB without"
)
assert kept < 0.6 * kept_otherwise, (
    f"checkpointing left {kept} of {kept_otherwise} bytes"
)

for each in (model, everything):
    each.zero_grad()
    torch.manual_seed(0)  # the same dropout in both
    each(**batch, labels=batch["input_ids"]).loss.backward()
for one, other in zip(model.parameters(), everything.parameters(), strict=True):
    torch.testing.assert_close(one.grad, other.grad)

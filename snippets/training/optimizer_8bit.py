# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "bitsandbytes>=0.50"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# timeout = 240
# ablation = { "bnb.optim.AdamW8bit(" = "bnb.optim.AdamW(" }
# ///
"""8-bit AdamW stores its states in two bytes per parameter. Embeddings are included unless you exempt them."""

from unittest.mock import patch

import bitsandbytes as bnb
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["A byte for each of two means."] * 4, return_tensors="pt").to(
    device
)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).eval()  # no dropout, so that two runs can be compared

# --8<-- [start:enable]
optimizer = bnb.optim.AdamW8bit(model.parameters(), lr=1e-4)
# --8<-- [end:enable]


def train(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    for _ in range(3):
        model(**batch, labels=batch["input_ids"]).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


train(model, optimizer)

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
states = sum(
    value.nbytes
    for state in optimizer.state.values()
    for name, value in state.items()
    if torch.is_tensor(value) and not name.startswith("qmap")
)
numbers = sum(weight.numel() for weight in model.parameters())
print(f"{states / numbers:.2f} bytes of state per parameter")  # AdamW: 8.00
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert 2 < states / numbers < 2.2, (
    f"{states / numbers:.2f} bytes of state per parameter"
)
# Two bytes a number, and two fp32 scales per 256. Small tensors have two fp32 states.
sizes = [weight.numel() for weight in model.parameters()]
total = sum(8 * n if n < 4096 else 2 * n + 8 * -(-n // 256) for n in sizes)
each = total / sum(sizes)
assert shown == f"{each:.2f} bytes of state per parameter", (shown, each)
assert optimizer.param_groups[0]["weight_decay"] == 1e-2, "not AdamW's default"
embedding = optimizer.state[model.get_input_embeddings().weight]
assert embedding["state1"].dtype == torch.uint8, "the embedding has 32 bits"

# The weights went where those of AdamW go, up to the rounding of the states.
exact = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
exact = exact.to(device).eval()
start = [weight.detach().clone() for weight in exact.parameters()]
train(exact, torch.optim.AdamW(exact.parameters(), lr=1e-4, weight_decay=1e-2))
for old, ours, theirs in zip(
    start, model.parameters(), exact.parameters(), strict=True
):
    if old.numel() < 4096:
        continue
    moved, wanted = (ours - old).flatten(), (theirs - old).flatten()
    alike = torch.nn.functional.cosine_similarity(moved, wanted, dim=0)
    assert alike > 0.95, f"the update points elsewhere: {alike:.3f}"
    assert not moved.equal(wanted), "the states were not rounded"

# --8<-- [start:exempt]
# What the Trainer does, before the first step: 32 bits for embeddings.
manager = bnb.optim.GlobalOptimManager.get_instance()
for module in model.modules():
    if isinstance(module, torch.nn.Embedding):
        manager.register_module_override(module, "weight", {"optim_bits": 32})
# --8<-- [end:exempt]

again = type(optimizer)(model.parameters(), lr=1e-4)
train(model, again)
for module in model.modules():
    if isinstance(module, torch.nn.Embedding):
        kept = again.state[module.weight]["state1"].dtype
        assert kept == torch.float32, f"an embedding has states in {kept}"
kept = again.state[model.transformer.h[0].mlp.c_fc.weight]["state1"].dtype
assert kept == torch.uint8, f"a matrix has states in {kept}"

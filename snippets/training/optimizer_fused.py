# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "lr=1e-5, fused=True" = "lr=1e-5, foreach=True" }
# ///
"""The fused AdamW updates all weights in one kernel call, and allocates no copy of them."""

from unittest.mock import patch

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["An update needs no copy."] * 4, return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()

# --8<-- [start:enable]
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)


def step() -> None:
    model(**batch, labels=batch["input_ids"]).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


# --8<-- [end:enable]

step()  # from the second step on, the optimizer's states exist
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
model(**batch, labels=batch["input_ids"]).loss.backward()
before = [p.detach().clone() for p in model.parameters()]

printed = patch("builtins.print", wraps=print).start()


def check(optimizer):
    # --8<-- [start:is-it-on]
    with profile(profile_memory=True) as trace:
        optimizer.step()
    ran = any("_fused_adamw_" in row.key for row in trace.key_averages())
    print(ran)  # on: True
    # --8<-- [end:is-it-on]
    return trace


trace = check(optimizer)
shown = printed.call_args.args

# The proof: the fused kernel ran, and the update allocated next to nothing.
runs = {row.key: row.count for row in trace.key_averages()}
assert runs.get("aten::_fused_adamw_") == 1, "the fused kernel did not run once"

assert shown == (True,), f"printed was {shown}"
assert trace.profile_memory, "allocations were not recorded"
taken = sum(
    max(event.self_cpu_memory_usage, 0) + max(event.self_device_memory_usage, 0)
    for event in trace.events()
)
gradients = sum(p.grad.nbytes for p in model.parameters())
print(f"the update allocated {taken:,} bytes; the gradients have {gradients:,}")
assert taken < 0.01 * gradients, f"the update allocated {taken} bytes"

# The check sees the difference: AdamW without the fused kernel prints False.
weight = torch.nn.Parameter(torch.ones(4, device=device))
weight.grad = torch.ones_like(weight)
check(torch.optim.AdamW([weight], foreach=True))
assert printed.call_args.args == (False,), (
    "the check finds a kernel that did not run"
)

# The weights are those of AdamW, written out: means corrected for two steps, a decay of 0.01.
for old, p in zip(before, model.parameters(), strict=True):
    state = optimizer.state[p]
    mean, square = (
        state["exp_avg"] / (1 - 0.9**2),
        state["exp_avg_sq"] / (1 - 0.999**2),
    )
    expected = old * (1 - 1e-5 * 0.01) - 1e-5 * mean / (square.sqrt() + 1e-8)
    assert not p.equal(old), "a weight was not updated"
    assert torch.allclose(p, expected, rtol=0, atol=1e-7), (
        "a weight is not that of AdamW"
    )

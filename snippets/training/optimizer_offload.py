# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "torchao>=0.18"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# needs = ["cuda"]
# ablation = { "optimizer = CPUOffloadOptimizer(" = "optimizer = (lambda p, c, **k: c(p, **k))(" }
# ///
"""torchao's CPUOffloadOptimizer keeps the optimizer states of all large weights in CPU memory, and runs AdamW there."""

import torch
from torchao.optim import CPUOffloadOptimizer
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["The states stay in CPU memory."] * 4, return_tensors="pt").to(
    device
)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
optimizer = CPUOffloadOptimizer(
    model.parameters(), torch.optim.AdamW, lr=1e-5, fused=True
)
held = torch.cuda.memory_allocated()


def step() -> None:
    model(**batch, labels=batch["input_ids"]).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


# --8<-- [end:enable]
before = [p.detach().clone() for p in model.parameters()]
held += sum(p.nbytes for p in before)

# --8<-- [start:is-it-on]
step()
grown = torch.cuda.memory_allocated() - held
print(f"a step left {grown / 2**20:.1f} MiB more on the GPU")  # on: almost nothing
# --8<-- [end:is-it-on]

weights = sum(p.nbytes for p in before)
assert grown < 0.1 * weights, f"{grown} bytes more, weights have {weights}"
changed = [
    not old.equal(p) for old, p in zip(before, model.parameters(), strict=True)
]
assert all(changed), f"{changed.count(False)} weights did not change"

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "with torch.autocast(device, dtype=torch.bfloat16):" = "with torch.autocast(device, dtype=torch.bfloat16, enabled=False):" }
# ///
"""Under bf16 autocast, matmuls take bf16 inputs. Weights, gradients and optimizer states stay fp32."""

from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(
    ["Sixteen bits where it is safe, thirty-two where it matters."] * 8,
    return_tensors="pt",
).to(device)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)


def step() -> None:
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = model(**batch, labels=batch["input_ids"]).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


# --8<-- [end:enable]


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
class MatmulTypes(TorchDispatchMode):
    """Note the data types that matmuls take."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[torch.dtype] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
            self.seen.add(args[-1].dtype)
        return func(*args, **(kwargs or {}))


with MatmulTypes() as matmuls:
    step()
print(matmuls.seen)  # on: {torch.bfloat16}, off: {torch.float32}
# --8<-- [end:is-it-on]
shown = printed.call_args.args

assert matmuls.seen == {torch.bfloat16}, f"matmuls took {matmuls.seen}"
assert shown == ({torch.bfloat16},), f"printed was {shown}"
one = torch.ones(2, 2, device=device)
with MatmulTypes() as both:
    torch.mm(one, one), torch.addmm(*[one.double()] * 3)
assert both.seen == {torch.float32, torch.float64}, f"it notes {both.seen} alone"
assert model.training, "the model is in evaluation mode"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
assert {p.dtype for p in model.parameters()} == {torch.float32}, (
    "the weights are not fp32 any more"
)
states = {
    t.dtype
    for state in optimizer.state.values()
    for name, t in state.items()
    if name != "step"
}
assert states == {torch.float32}, f"the optimizer's states are {states}"

# The gradients are fp32, and the step moves all weights.
before = [p.detach().clone() for p in model.parameters()]
gradients: set[tuple[torch.dtype, bool]] = set()
for p in model.parameters():
    p.register_post_accumulate_grad_hook(
        lambda w: gradients.add((w.grad.dtype, torch.is_autocast_enabled(device)))
    )
step()
assert gradients == {(torch.float32, False)}, f"gradients, autocast: {gradients}"
assert optimizer.defaults["fused"], "the optimizer is not fused"
pairs = zip(before, model.parameters(), strict=True)
assert not any(old.equal(new) for old, new in pairs), "a weight did not move"

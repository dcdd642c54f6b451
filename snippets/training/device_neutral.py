# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "found = torch.accelerator.current_accelerator(check_available=True)" = "found = torch.device(\"cuda\") if torch.cuda.is_available() else None" }
# ///
"""One training step for every accelerator: device, autocast and the backend of torch.distributed follow from torch.accelerator, and nothing names cuda."""

from unittest import mock

import torch
import torch.distributed as dist
from transformers import AutoModelForCausalLM

checkpoint = "HuggingFaceTB/SmolLM2-135M"
types = set()
torch.nn.modules.module.register_module_forward_hook(
    lambda module, _, output: (
        types.add(output.dtype) if isinstance(module, torch.nn.Linear) else None
    )
)


backend_for = mock.Mock(wraps=dist.get_default_backend_for_device)
dist.get_default_backend_for_device = backend_for


# --8<-- [start:enable]
def device():
    found = torch.accelerator.current_accelerator(check_available=True)
    return found or torch.device("cpu")


def training_step(model, optimizer, tokens):
    tokens = tokens.to(model.device, non_blocking=True)
    with torch.autocast(model.device.type, dtype=torch.bfloat16):
        loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()  # no .item() here: it waits for the accelerator


model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model.to(device())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
tokens = torch.arange(64).reshape(2, 32)
losses = [training_step(model, optimizer, tokens) for _ in range(3)]
backend = dist.get_default_backend_for_device(device())  # for init_process_group
# --8<-- [end:enable]

print(f"{device()}, {backend}: losses {[round(loss.item(), 3) for loss in losses]}")
assert losses[2] < losses[0]
assert not any(loss.requires_grad for loss in losses), "a loss keeps its graph"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
assert types == {torch.bfloat16}, f"autocast is off: {types}"
if not torch.accelerator.is_available():
    assert (device().type, backend) == ("cpu", "gloo")
backend_for.assert_called_once_with(device())
# The step takes the device of the model, whichever it is.
elsewhere, moved = mock.MagicMock(device=torch.device("xpu")), mock.Mock()
with mock.patch("torch.autocast") as autocast:
    loss = training_step(elsewhere, optimizer, moved)
autocast.assert_called_once_with("xpu", dtype=torch.bfloat16)
moved.to.assert_called_once_with(elsewhere.device, non_blocking=True)
there = moved.to.return_value
elsewhere.assert_called_once_with(input_ids=there, labels=there)
assert loss is elsewhere.return_value.loss.detach.return_value, "it waits"
# What PyTorch would answer on other machines.
chosen = {}
for name in ("cuda", "mps", "xpu", "hpu"):
    with mock.patch(
        "torch.accelerator.current_accelerator", return_value=torch.device(name)
    ):
        chosen[name] = device().type
assert all(name == found for name, found in chosen.items()), chosen

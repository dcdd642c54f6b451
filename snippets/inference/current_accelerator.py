# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "return found or torch.device(\"cpu\")" = "return torch.device(\"cuda\" if torch.cuda.is_available() else \"cpu\")" }
# ///
"""torch.accelerator names the accelerator of the machine, whatever its backend is: code that asks it needs no branch per device."""

from unittest import mock

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

checkpoint = "HuggingFaceTB/SmolLM2-135M"


to = mock.patch.object(
    PreTrainedModel, "to", autospec=True, side_effect=PreTrainedModel.to
).start()


# --8<-- [start:enable]
def device():
    found = torch.accelerator.current_accelerator(check_available=True)
    return found or torch.device("cpu")


model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16).to(
    device()
)
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
inputs = tokenizer("The same code on", return_tensors="pt").to(model.device)
tokens = model.generate(**inputs, max_new_tokens=4, do_sample=False)
# --8<-- [end:enable]

assert tokens.device == model.device
to.assert_called_once_with(model, device())  # without it, it stays on the CPU
assert model.device.type == device().type
# What PyTorch would answer on other machines.
chosen = {}
for name in ("cuda", "mps", "xpu", "hpu"):
    with mock.patch(
        "torch.accelerator.current_accelerator", return_value=torch.device(name)
    ):
        chosen[name] = device().type
with mock.patch("torch.accelerator.current_accelerator", return_value=None) as ask:
    chosen["none"] = device().type
# Without it, a build for CUDA names a GPU that the machine does not have.
assert ask.call_args.kwargs == {"check_available": True}, ask.call_args
print(chosen)
assert chosen == {
    "cuda": "cuda",
    "mps": "mps",
    "xpu": "xpu",
    "hpu": "hpu",
    "none": "cpu",
}, chosen

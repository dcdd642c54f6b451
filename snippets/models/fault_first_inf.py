# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "DebugUnderflowOverflow(model)" = "None" }
# ///
"""DebugUnderflowOverflow stops in the pass in which the first inf or nan appears, and prints the modules before it with their largest numbers."""

import contextlib
import io

import torch
from transformers import AutoModelForCausalLM
from transformers.debug_utils import DebugUnderflowOverflow

model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.float32
)
tokens = torch.arange(8)[None]
# One layer has an infinite weight, as after a bad step of the optimizer.
with torch.no_grad():
    model.model.layers[2].mlp.down_proj.weight[0] = torch.inf

# --8<-- [start:cure]
debug = DebugUnderflowOverflow(model)  # Trainer: debug="underflow_overflow"
# --8<-- [end:cure]
printed, message = io.StringIO(), ""
try:
    with contextlib.redirect_stdout(printed), torch.no_grad():
        model(input_ids=tokens)
except ValueError as error:
    message = str(error)
report = printed.getvalue()
print("\n".join(line for line in report.splitlines() if "layers.2.mlp" in line))
assert message.startswith("DebugUnderflowOverflow: inf/nan detected"), message
assert "Detected inf/nan during batch_number=0" in report
frames = [
    line for line in report.splitlines() if line.strip().startswith("model.layers.")
]
assert "model.layers.2.mlp.down_proj" in frames[-1], frames[-3:]
assert any("model.layers.1." in frame for frame in frames), "no module before it"
assert "abs max" in report

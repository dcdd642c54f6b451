# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "tp_size=2, tp_plan=plan" = "tp_size=2" }
# ///
"""A dictionary in DistributedConfig replaces single rules of a model's plan: here attention stays whole, and the MLP is divided."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig

checkpoint = "HuggingFaceTB/SmolLM2-135M"

# --8<-- [start:enable]
attention = ("q_proj", "k_proj", "v_proj", "o_proj")
plan = {f"model.layers.*.self_attn.{name}": "replicate" for name in attention}
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.float32,
    distributed_config=DistributedConfig(tp_size=2, tp_plan=plan),
)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
for name, parameter in model.model.layers[0].named_parameters():
    whole = not isinstance(parameter, DTensor) or (
        parameter.to_local().shape == parameter.shape
    )
    print(name, "whole" if whole else tuple(parameter.to_local().shape))
# --8<-- [end:is-it-on]
shown = dict(map(str, call.args) for call in printed.call_args_list)

# The proof, on each rank: what the dictionary names is whole, all else is divided, and the logits are those of one process.
hidden, inner = model.config.hidden_size, model.config.intermediate_size
for name in attention:
    assert shown[f"self_attn.{name}.weight"] == "whole", shown
assert shown["mlp.gate_proj.weight"] == str((inner // 2, hidden)), shown
assert shown["mlp.down_proj.weight"] == str((hidden, inner // 2)), shown
assert model.tp_plan["model.layers.*.mlp.up_proj"] == "colwise", model.tp_plan

torch.manual_seed(0)
batch = torch.randint(100, (2, 16))
alone = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
with torch.no_grad():
    logits = model(input_ids=batch.to(model.device)).logits.cpu()
    apart = (logits - alone(input_ids=batch).logits).abs().max()
assert apart < 1e-4, f"the logits differ by {apart:.1e}"

refused = ""
try:
    AutoModelForCausalLM.from_pretrained(
        checkpoint,
        distributed_config=DistributedConfig(
            tp_size=2, tp_plan={"lm_head": "halve"}
        ),
    )
except ValueError as error:
    refused = str(error)
assert "halve" in refused, "an unknown rule is accepted"
dist.destroy_process_group()

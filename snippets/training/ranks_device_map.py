# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["openai-community/gpt2"]
# ablation = { "checkpoint)  # no device_map" = "checkpoint, device_map=spread, offload_folder=\"offload\")" }
# ///
"""Accelerate refuses a model that a device map spread over several devices, if there are several ranks. Without a device map, each rank trains a whole model."""

from unittest import mock

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel
from transformers import AutoModelForCausalLM

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
checkpoint = "openai-community/gpt2"
# Without GPUs, a map over two devices: CPU memory and disk.
spread = {"transformer": "cpu", "lm_head": "disk"}


def error_of_preparing(model):
    """Prepare a model as the Trainer does, and return the error."""
    try:
        accelerator.prepare(model)
    except ValueError as raised:
        return str(raised)
    return ""


with mock.patch.object(
    AutoModelForCausalLM,
    "from_pretrained",
    wraps=AutoModelForCausalLM.from_pretrained,
) as load:
    # --8<-- [start:enable]
    model = AutoModelForCausalLM.from_pretrained(checkpoint)  # no device_map
    # --8<-- [end:enable]
found = error_of_preparing(model)
assert found == "", f"without a device map: {found}"
# On one device, such as CPU memory, a map of "auto" causes no error, so look at the call.
assert "device_map" not in load.call_args.kwargs, load.call_args

printed = mock.patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
model = accelerator.prepare(model)
print(type(model).__name__, "on", model.device)
# --8<-- [end:is-it-on]
shown = " ".join(map(str, printed.call_args.args))

# The proof, on each rank: DDP has the whole model here.
assert dist.get_world_size() == 2
assert isinstance(model, DistributedDataParallel)
expected = f"DistributedDataParallel on {model.module.lm_head.weight.device}"
assert shown == expected, f"printed was {shown}"
held = sum(p.numel() for p in model.parameters())
mapped = AutoModelForCausalLM.from_pretrained(
    checkpoint, device_map=spread, offload_folder="offload"
)
assert len(mapped.hf_device_map) > 1, mapped.hf_device_map
assert held == sum(p.numel() for p in mapped.parameters()), held
assert all(p.device.type != "meta" for p in model.parameters())

# With a device map over two devices, the error appears.
found = error_of_preparing(mapped)
print(found)
expected = "You can't train a model that has been loaded with `device_map='auto'` in any distributed mode."
assert found.startswith(expected), found

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "full_state_dict=True, cpu_offload=True" = "full_state_dict=True" }
# ///
"""With full_state_dict and cpu_offload, rank 0 receives whole weights in CPU memory and the other ranks an empty dictionary."""

import tempfile
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from transformers import AutoModelForCausalLM

device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (dist.get_world_size(),))
checkpoint = "HuggingFaceTB/SmolLM2-135M"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
for layer in model.model.layers:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
folder = tempfile.mkdtemp()

# --8<-- [start:enable]
options = StateDictOptions(full_state_dict=True, cpu_offload=True)
whole = get_model_state_dict(model, options=options)  # on every rank: it gathers
if dist.get_rank() == 0:
    model.save_pretrained(folder, state_dict=whole)
# --8<-- [end:enable]
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
keys = [None] * dist.get_world_size()
dist.all_gather_object(keys, len(whole))
if dist.get_rank() == 0:
    print("tensors in each rank's dictionary:", keys)
# --8<-- [end:is-it-on]
shown = [call.args for call in printed.call_args_list]

# The proof: all tensors on rank 0, in CPU memory, none on rank 1, and the saved model is the loaded one.
assert dist.get_world_size() == 2
assert keys[1] == 0, keys
assert all(tensor.device.type == "cpu" for tensor in whole.values())
if dist.get_rank() == 0:
    first = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    count = len(first.state_dict())
    assert keys[0] == count, keys
    assert shown == [("tensors in each rank's dictionary:", [count, 0])], shown
    again = AutoModelForCausalLM.from_pretrained(folder)
    for (name, p), q in zip(
        first.named_parameters(), again.parameters(), strict=True
    ):
        assert p.equal(q), name
dist.barrier()
dist.destroy_process_group()

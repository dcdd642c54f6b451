# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# needs = ["cuda:2", "bf16"]
# timeout = 300
# ablation = { "fsdp_plugin=plugin, " = "" }
# ///
"""FullyShardedDataParallelPlugin(fsdp_version=2) makes Accelerate shard each layer and the model with FSDP2."""

import torch
import torch.distributed as dist
from accelerate import Accelerator, FullyShardedDataParallelPlugin
from torch.distributed.fsdp import FSDPModule
from transformers import AutoModelForCausalLM

checkpoint = "HuggingFaceTB/SmolLM2-135M"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
parameters = model.num_parameters()

# --8<-- [start:enable]
plugin = FullyShardedDataParallelPlugin(
    fsdp_version=2,  # the default is 1
    auto_wrap_policy="transformer_based_wrap",
    reshard_after_forward=True,
    state_dict_type="SHARDED_STATE_DICT",
)
accelerator = Accelerator(fsdp_plugin=plugin, mixed_precision="bf16")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
model, optimizer = accelerator.prepare(model, optimizer)
# --8<-- [end:enable]
tokens = torch.randint(100, (2, 64), device=accelerator.device)
accelerator.backward(model(input_ids=tokens, labels=tokens).loss)
optimizer.step()

# --8<-- [start:is-it-on]
wrapped = sum(isinstance(module, FSDPModule) for module in model.modules())
local = [getattr(p, "_local_tensor", p) for p in model.parameters()]
share = sum(p.numel() for p in local) / parameters
if accelerator.is_main_process:
    print(f"{wrapped} FSDP modules; this rank holds {share:.2f} of the parameters")
# --8<-- [end:is-it-on]

# The proof, on each rank: the root and every layer are FSDP modules, and a rank holds half.
assert dist.get_world_size() == 2
assert wrapped >= model.config.num_hidden_layers + 1, f"{wrapped} FSDP modules"
assert abs(share - 0.5) < 0.01, f"this rank holds {share:.2f} of the parameters"
dist.destroy_process_group()

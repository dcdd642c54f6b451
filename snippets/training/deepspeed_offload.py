# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "deepspeed>=0.19"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# needs = ["cuda:2", "bf16"]
# timeout = 600
# ablation = { "\"offload_optimizer\": {\"device\": \"cpu\", \"pin_memory\": True}," = "" }
# ///
"""DeepSpeed keeps optimizer states and weights of stage 3 in CPU memory, and updates them there with its own Adam."""

import deepspeed
import torch
import torch.distributed as dist
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(8)])

# --8<-- [start:enable]
config = {
    "train_micro_batch_size_per_gpu": 2,
    "bf16": {"enabled": True},
    "zero_optimization": {
        "stage": 3,
        "stage3_param_persistence_threshold": 0,  # else small weights stay on GPUs
        "offload_optimizer": {"device": "cpu", "pin_memory": True},
        "offload_param": {"device": "cpu", "pin_memory": True},
    },
    "optimizer": {
        "type": "AdamW",
        "params": {"lr": 1e-5},
    },  # becomes DeepSpeedCPUAdam
}
engine, optimizer, _, _ = deepspeed.initialize(
    model=model, model_parameters=model.parameters(), config=config
)
# --8<-- [end:enable]
batch = torch.randn(2, 64, device=engine.device, dtype=torch.bfloat16)
engine.backward(engine(batch).square().mean())
engine.step()

# --8<-- [start:is-it-on]
states = [state["exp_avg"] for state in optimizer.optimizer.state.values()]
weights = [p.ds_tensor for p in engine.module.parameters()]
if dist.get_rank() == 0:
    print(type(optimizer.optimizer).__name__, {s.device.type for s in states})
# --8<-- [end:is-it-on]

# The proof, on each rank: the states and the shards of the weights are in CPU memory.
assert dist.get_world_size() == 2
assert states
assert {state.device.type for state in states} == {"cpu"}, "states are on the GPU"
assert {weight.device.type for weight in weights} == {"cpu"}, (
    "weights are on the GPU"
)
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "deepspeed>=0.19"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# timeout = 600
# ablation = { "\"stage\": 3" = "\"stage\": 2" }
# ///
"""DeepSpeed ZeRO stage 3 leaves a rank 1/N of weights, gradients and optimizer states, and gathers a layer's weights when it runs."""

import warnings
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch itself calls torch.jit.script
    import deepspeed

warnings.filterwarnings("ignore", ".*(istutils|`torch[.](distributed|jit))")
torch.manual_seed(0)
model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(8)])
parameters = sum(p.numel() for p in model.parameters())

# --8<-- [start:enable]
config = {
    "train_micro_batch_size_per_gpu": 2,
    "gradient_accumulation_steps": 1,
    "gradient_clipping": 1.0,
    "bf16": {"enabled": torch.cuda.is_available()},
    "zero_optimization": {
        "stage": 3,
        "stage3_param_persistence_threshold": 0,  # shard small parameters, too
    },
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-5, "torch_adam": True}},
}
engine, optimizer, _, _ = deepspeed.initialize(
    model=model, model_parameters=model.parameters(), config=config
)


def train_step(batch):
    loss = engine(batch).square().mean()
    engine.backward(loss)
    engine.step()


# --8<-- [end:enable]


class Collectives(TorchDispatchMode):
    """Note the name of each collective of torch.distributed."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "c10d":
            self.names.add(func.name().removeprefix("c10d::").strip("_"))
        return func(*args, **(kwargs or {}))


torch.manual_seed(1 + dist.get_rank())
first = next(engine.module.parameters())
batch = torch.randn(2, 64, device=engine.device, dtype=first.dtype)
train_step(batch)
with Collectives() as collectives:
    train_step(batch)

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
weights = [getattr(p, "ds_tensor", p) for p in engine.module.parameters()]
share = sum(tensor.numel() for tensor in weights) / parameters
states = [
    state["exp_avg"].numel()
    for state in optimizer.optimizer.state.values()
    if state
]
if dist.get_rank() == 0:
    print(f"stage {engine.zero_optimization_stage()}; this rank holds", end=" ")
    print(
        f"{share:.2f} of the weights, {sum(states) / parameters:.2f} of the states"
    )
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: half of weights and states, empty parameters between steps, and gathers of
# weights and reduce-scatters of gradients instead of an all-reduce of gradients.
assert dist.get_world_size() == 2
assert engine.gradient_clipping() == 1.0, "gradients are not clipped"
assert engine.train_micro_batch_size_per_gpu() == len(batch)
assert engine.gradient_accumulation_steps() == 1
assert share == 0.5, f"this rank holds {share:.2f} of the weights"
assert sum(states) == parameters // 2
lines = ["stage 3; this rank holds", "0.50 of the weights, 0.50 of the states"]
assert shown == ([] if dist.get_rank() else lines), f"printed was {shown}"
assert all(p.numel() == 0 for p in engine.module.parameters())
assert {"allgather_base", "reduce_scatter_base"} <= collectives.names
dist.destroy_process_group()

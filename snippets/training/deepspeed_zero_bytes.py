# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "deepspeed>=0.19"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# timeout = 600
# ablation = { "\"use_multi_rank_bucket_allreduce\": False" = "\"use_multi_rank_bucket_allreduce\": True" }
# ///
"""ZeRO-1 and ZeRO-2 of DeepSpeed all-reduce all gradients and then gather the weights; use_multi_rank_bucket_allreduce=False reduces each gradient to its owner."""

import warnings
from collections import Counter

import torch
import torch.distributed as dist
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch itself calls torch.jit.script
    import deepspeed

warnings.filterwarnings("ignore", ".*(istutils|`torch[.](distributed|jit))")

# --8<-- [start:enable]
fewer_bytes = {"use_multi_rank_bucket_allreduce": False}
# --8<-- [end:enable]


class Traffic(TorchDispatchMode):
    """Add up the bytes of the tensors that each collective is called with."""

    def __init__(self):
        super().__init__()
        self.payload = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        tensors = [x for x in tree_leaves(args) if isinstance(x, torch.Tensor)]
        if func.namespace == "c10d" and tensors:
            name = func.name().removeprefix("c10d::").strip("_")
            self.payload[name] += max(tensor.nbytes for tensor in tensors)
        return func(*args, **(kwargs or {}))


def payloads(stage, micro_batches=1, **zero):
    """Return payloads of the second step, in units of the parameters' bytes, and the share of the states."""
    torch.manual_seed(0)
    model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(8)])
    parameters = sum(p.numel() for p in model.parameters())
    engine, optimizer, _, _ = deepspeed.initialize(
        model=model,
        model_parameters=model.parameters(),
        config={
            "train_micro_batch_size_per_gpu": 2,
            "gradient_accumulation_steps": micro_batches,
            "zero_optimization": {"stage": stage, **zero},
            "optimizer": {"type": "AdamW", "params": {"torch_adam": True}},
        },
    )
    for _ in range(2):
        with Traffic() as traffic:
            for _ in range(micro_batches):
                loss = (
                    engine(torch.randn(2, 64, device=engine.device)).square().mean()
                )
                engine.backward(loss)
                engine.step()
    inner = getattr(optimizer, "optimizer", optimizer)
    moments = [state["exp_avg"].numel() for state in inner.state.values() if state]
    bytes_ = {k: round(v / (4 * parameters), 2) for k, v in traffic.payload.items()}
    return {k: v for k, v in bytes_.items() if v}, sum(moments) / parameters


gather_twice = {
    "stage3_param_persistence_threshold": 0,
    "stage3_max_reuse_distance": 0,
    "stage3_prefetch_bucket_size": 0,
    "stage3_max_live_parameters": 0,
}
arms = {
    "ZeRO-0, which is DDP": payloads(0),
    "ZeRO-1": payloads(1),
    "ZeRO-2": payloads(2),
    "ZeRO-2, reduce": payloads(2, **fewer_bytes),
    "ZeRO-1, 4 micro-batches": payloads(1, 4),
    "ZeRO-2, 4 micro-batches": payloads(2, 4),
    "ZeRO-2, reduce, 4 micro-batches": payloads(2, 4, **fewer_bytes),
    "ZeRO-3, 4 micro-batches": payloads(3, 4, **gather_twice),
}
if dist.get_rank() == 0:
    for name, (payload, share) in arms.items():
        print(f"{name}: {payload}, {share:.1f} of the states")

# The proof, on each rank: ZeRO-1 and ZeRO-2 divide the states, and all-reduce and gather everything,
# ZeRO-2 in each micro-batch. With the option, a reduce replaces the all-reduce. ZeRO-3 gathers twice.
assert dist.get_world_size() == 2
shares = [share for _, share in arms.values()]
assert shares == [1.0] + 7 * [0.5], shares
both = {"allreduce": 1.0, "allgather_base": 1.0}
assert arms["ZeRO-0, which is DDP"][0] == {"allreduce": 1.0}
assert arms["ZeRO-1"][0] == both
assert arms["ZeRO-2"][0] == both
reduced = arms["ZeRO-2, reduce"][0]
assert reduced == {"reduce": 1.0, "allgather_base": 1.0}, reduced
assert arms["ZeRO-1, 4 micro-batches"][0] == both
assert arms["ZeRO-2, 4 micro-batches"][0] == {
    "allreduce": 4.0,
    "allgather_base": 1.0,
}
reduced = arms["ZeRO-2, reduce, 4 micro-batches"][0]
assert reduced == {"reduce": 4.0, "allgather_base": 1.0}, reduced
twice = arms["ZeRO-3, 4 micro-batches"][0]
assert twice == {"allgather_base": 8.0, "reduce_scatter_base": 4.0}, twice
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "deepspeed>=0.19"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# timeout = 600
# ablation = { "engine.load_checkpoint(folder)" = "(folder, {\"step\": 1})" }
# ///
"""Every rank saves and loads its part of a DeepSpeed checkpoint, and zero_to_fp32 puts the parts together as one fp32 state dict."""

import tempfile
import warnings

import torch
import torch.distributed as dist
from torch import nn

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch itself calls torch.jit.script
    import deepspeed
    from deepspeed.utils.zero_to_fp32 import (
        get_fp32_state_dict_from_zero_checkpoint,
    )

warnings.filterwarnings("ignore", ".*(istutils|`torch[.](distributed|jit))")
deepspeed.init_distributed()
config = {
    "train_micro_batch_size_per_gpu": 2,
    "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}},
}


def start(seed):
    """Return the engine of a job whose weights start from this seed."""
    torch.manual_seed(seed)
    model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(4)])
    return deepspeed.initialize(
        model=model, model_parameters=model.parameters(), config=config
    )[0]


def train_step(engine, batch):
    engine.backward(engine(batch).square().mean())
    engine.step()


def weights(engine):
    with deepspeed.zero.GatheredParameters([*engine.module.parameters()]):
        return {k: p.clone().cpu() for k, p in engine.module.named_parameters()}


engine = start(seed=0)
batch = torch.randn(2, 64, device=engine.device)
train_step(engine, batch)
box = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
dist.broadcast_object_list(box)
folder = box[0]

# --8<-- [start:enable]
engine.save_checkpoint(folder, client_state={"step": 1})  # on every rank
# --8<-- [end:enable]
saved = weights(engine)
train_step(engine, batch)
continued = weights(engine)

engine = start(seed=1)  # a new job
# --8<-- [start:resume]
path, client_state = engine.load_checkpoint(folder)  # on every rank
# --8<-- [end:resume]
loaded = weights(engine)
train_step(engine, batch)
after = weights(engine)
# --8<-- [start:whole]
if dist.get_rank() == 0:
    whole = get_fp32_state_dict_from_zero_checkpoint(folder)  # in CPU memory
    torch.save(whole, f"{folder}/model.pt")
# --8<-- [end:whole]

# The proof: on each rank the loaded weights are the saved ones, and the next step is the same, which needs
# the optimizer states; and on rank 0 the single file has the saved weights, whole and in fp32.
assert dist.get_world_size() == 2
assert client_state["step"] == 1
for name, old in saved.items():
    assert loaded[name].equal(old), f"{name} is not that of the checkpoint"
    assert not continued[name].equal(old)
    torch.testing.assert_close(after[name], continued[name])
if dist.get_rank() == 0:
    again = torch.load(f"{folder}/model.pt")
    for name, old in saved.items():
        assert again[name].equal(old)
        assert again[name].dtype == torch.float32
    print(
        "resumed at step", client_state["step"], "and wrote", len(again), "tensors"
    )
dist.barrier()
dist.destroy_process_group()

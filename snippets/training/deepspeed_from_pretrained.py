# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "deepspeed>=0.19"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 600
# ablation = { "keep = HfDeepSpeedConfig(config)  # a name must hold it while the model loads" = "" }
# ///
"""While an HfDeepSpeedConfig of stage 3 is alive, from_pretrained gives each rank its share of the weights."""

import warnings
from unittest.mock import patch

import torch
import torch.distributed as dist
from transformers import AutoModelForCausalLM
from transformers.integrations import HfDeepSpeedConfig

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch itself calls torch.jit.script
    import deepspeed

warnings.filterwarnings("ignore", ".*(istutils|`torch[.](distributed|jit))")
checkpoint = "HuggingFaceTB/SmolLM2-135M"
config = {
    "train_micro_batch_size_per_gpu": 1,
    "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-5, "torch_adam": True}},
}

# --8<-- [start:enable]
deepspeed.init_distributed()
keep = HfDeepSpeedConfig(config)  # a name must hold it while the model loads
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
loaded = sum(getattr(p, "ds_tensor", p).numel() for p in model.parameters())
engine, _, _, _ = deepspeed.initialize(
    model=model, model_parameters=model.parameters(), config=config
)
# --8<-- [end:enable]
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
total = sum(p.ds_numel for p in model.parameters())
if dist.get_rank() == 0:
    print(f"after loading, a rank holds {loaded / total:.2f} of the weights")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: half of the weights, already before deepspeed.initialize, and the values of the
# checkpoint.
assert dist.get_world_size() == 2
assert loaded / total == 0.5, f"{loaded / total:.2f} of the weights after loading"
lines = ["after loading, a rank holds 0.50 of the weights"]
assert shown == ([] if dist.get_rank() else lines), f"printed was {shown}"
del keep
plain = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
with deepspeed.zero.GatheredParameters([*model.parameters()]):
    for p, q in zip(model.parameters(), plain.parameters(), strict=True):
        assert p.cpu().equal(q)
# A step of the engine updates every weight.
tokens = torch.arange(16, device=engine.device)[None]
engine.backward(engine(input_ids=tokens, labels=tokens).loss)
engine.step()
with deepspeed.zero.GatheredParameters([*model.parameters()]):
    for (name, p), q in zip(
        model.named_parameters(), plain.parameters(), strict=True
    ):
        assert not p.cpu().equal(q), f"{name} was not updated"
dist.destroy_process_group()

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# no_ablation = "shows an argument that changes nothing on a CPU, so there is no technique to remove"
# ///
"""On a CPU, the Trainer takes fsdp=True without a warning and trains with DDP: every rank holds all parameters."""

import copy
import tempfile
import warnings
from types import SimpleNamespace
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.nn.parallel import DistributedDataParallel

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch itself calls torch.jit.script
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

checkpoint = "HuggingFaceTB/SmolLM2-135M"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
rows = [{"input_ids": list(range(32)), "labels": list(range(32))} for _ in range(8)]
parameters = model.num_parameters()

arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    fsdp=True,  # ignored on a CPU
    per_device_train_batch_size=2,
    max_steps=1,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model=model, args=arguments, train_dataset=rows)
trainer.train()

# The positive control of the check: it finds half of the parameters of a model that FSDP2 shards over two ranks.
on_cpu = trainer
mesh = init_device_mesh("cpu", (2,))
other = fully_shard(copy.deepcopy(model).cpu(), mesh=mesh)
sharded = SimpleNamespace(model=other, model_wrapped=other)
printed = patch("builtins.print", wraps=print).start()
shares = []
for trainer in (sharded, on_cpu):
    # --8<-- [start:is-it-on]
    local = [getattr(p, "_local_tensor", p) for p in trainer.model.parameters()]
    share = sum(p.numel() for p in local) / parameters
    if dist.get_rank() == 0:
        print(type(trainer.model_wrapped).__name__, f"{share:.2f}")
    # --8<-- [end:is-it-on]
    shares.append(share)
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: DDP around the model, no FSDP inside, and all parameters on this rank.
assert dist.get_world_size() == 2
assert arguments.fsdp is True
assert isinstance(trainer.model_wrapped, DistributedDataParallel)
assert not any(isinstance(m, FSDPModule) for m in trainer.model_wrapped.modules())
assert shares[1] == 1.0, shares
assert 0.45 < shares[0] < 0.55, f"the check finds {shares[0]} of a sharded model"
class_name = f"FSDP{type(model).__name__}"
lines = [f"{class_name} {shares[0]:.2f}", "DistributedDataParallel 1.00"]
lines = [] if dist.get_rank() else lines
assert shown == lines, f"printed was {shown}"
dist.destroy_process_group()

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

import tempfile
import warnings
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule
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

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
local = [getattr(p, "_local_tensor", p) for p in trainer.model.parameters()]
share = sum(p.numel() for p in local) / parameters
if dist.get_rank() == 0:
    print(type(trainer.model_wrapped).__name__, f"{share:.2f}")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: DDP around the model, no FSDP inside, and all parameters on this rank.
assert dist.get_world_size() == 2
assert arguments.fsdp is True
assert isinstance(trainer.model_wrapped, DistributedDataParallel)
assert not any(isinstance(m, FSDPModule) for m in trainer.model_wrapped.modules())
assert share == 1.0
lines = [] if dist.get_rank() else ["DistributedDataParallel 1.00"]
assert shown == lines, f"printed was {shown}"
dist.destroy_process_group()

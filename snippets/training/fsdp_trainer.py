# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# needs = ["cuda:2", "bf16"]
# timeout = 300
# ablation = { "    fsdp=True,\n" = "" }
# ///
"""With fsdp=True, the Trainer shards each layer and the model with FSDP2, and computes in bf16 from fp32 shards."""

import tempfile

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

checkpoint = "HuggingFaceTB/SmolLM2-135M"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
rows = [{"input_ids": list(range(32)), "labels": list(range(32))} for _ in range(8)]
parameters = model.num_parameters()

# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    fsdp=True,
    fsdp_config={
        "reshard_after_forward": True,
        "activation_checkpointing": True,
        "state_dict_type": "SHARDED_STATE_DICT",
    },
    bf16=True,
    per_device_train_batch_size=2,
    max_steps=1,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(model=model, args=arguments, train_dataset=rows)
trainer.train()
# --8<-- [end:enable]

# --8<-- [start:is-it-on]
model = trainer.model_wrapped
wrapped = sum(isinstance(module, FSDPModule) for module in model.modules())
local = [getattr(p, "_local_tensor", p) for p in model.parameters()]
share = sum(p.numel() for p in local) / parameters
if dist.get_rank() == 0:
    print(f"{wrapped} FSDP modules; this rank holds {share:.2f} of the parameters")
# --8<-- [end:is-it-on]

# The proof, on each rank: the root and every layer are FSDP modules, in fp32, and a rank holds half.
assert dist.get_world_size() == 2
assert wrapped >= model.config.num_hidden_layers + 1, f"{wrapped} FSDP modules"
assert abs(share - 0.5) < 0.01, f"this rank holds {share:.2f} of the parameters"
assert {p.dtype for p in local} == {torch.float32}
dist.destroy_process_group()

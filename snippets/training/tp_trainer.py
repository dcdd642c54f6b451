# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# needs = ["cuda:2"]
# ablation = { "DistributedConfig(tp_size=2)" = "DistributedConfig(tp_size=1)" }
# ///
"""The Trainer trains a tensor-parallel model: both ranks get the same batch, and share each matrix."""

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
from transformers.distributed import DistributedConfig

torch.manual_seed(0)
checkpoint = "HuggingFaceTB/SmolLM2-135M"
rows = [
    {"input_ids": (ids := torch.randint(100, (64,))), "labels": ids}
    for _ in range(8)
]

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.float32,
    distributed_config=DistributedConfig(tp_size=2),
)
arguments = TrainingArguments(
    per_device_train_batch_size=2,
    max_steps=2,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(model, arguments, train_dataset=rows)
# --8<-- [end:enable]
before = [
    p.to_local().clone() for p in model.parameters() if isinstance(p, DTensor)
]
batches = []
model.register_forward_pre_hook(
    lambda *call: batches.append(call[2]["input_ids"].clone()), with_kwargs=True
)

# --8<-- [start:is-it-on]
trainer.train()
local = model.model.layers[0].self_attn.q_proj.weight
local = local.to_local() if isinstance(local, DTensor) else local
everyone = [torch.empty_like(batches[0]) for _ in range(dist.get_world_size())]
dist.all_gather(everyone, batches[0])
print("q_proj:", tuple(local.shape))
print("the same batch on all ranks:", all(b.equal(everyone[0]) for b in everyone))
# --8<-- [end:is-it-on]

# The proof, on each rank: half of each matrix, the same batches, and an optimizer step on the shards.
assert dist.get_world_size() == 2
assert local.shape == (64, 128), f"q_proj has the shape {tuple(local.shape)}"
assert all(b.equal(everyone[0]) for b in everyone)
assert len(batches) == arguments.max_steps
after = [p.to_local() for p in model.parameters() if isinstance(p, DTensor)]
assert not any(x.equal(y) for x, y in zip(before, after, strict=True))
